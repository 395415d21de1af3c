"""rtsps: verification is on, and a port that wants or lacks encryption is reported as that."""

import asyncio
import ssl

from confkit.rtsp.preflight import preflight
from confkit.sandbox.cameras.server import CameraServer

from .fakes import SMALL


def reports(certificate, *attempts):
    """The reports about an rtsps camera, one for each change of its address with its options."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async def run():
        async with CameraServer() as server:
            url = await server.add(login_name="a", login_password="b", tls=context, **SMALL)
            return [
                await asyncio.to_thread(preflight, change(url), "a", "b", timeout=5, **options)
                for change, options in attempts
            ]

    return asyncio.run(run())


def test_a_known_certificate_opens_and_an_unknown_one_does_not(certificate):
    """With the certificate's file, or without verification, the camera plays; else `tls_failed`."""
    known, unchecked, unknown, other = reports(
        certificate,
        (str, {"verify": str(certificate[0])}),
        (str, {"verify": False}),
        (str, {}),
        (lambda url: url.replace("127.0.0.1", "127.1"), {"verify": str(certificate[0])}),
    )
    assert known.ok, str(known)
    assert [stage.name for stage in known.stages][2:4] == ["TCP", "TLS"]
    assert unchecked.ok
    for report in (unknown, other):
        assert (report.verdict, report.stages[-1].name) == ("tls_failed", "TLS")
    assert "self-signed" in unknown.cause
    assert "127.1" in other.cause


def test_plain_text_on_an_encrypted_port_is_told(certificate):
    """An rtsp address of a port that wants TLS is `tls_failed`, though it closes without a word."""
    (report,) = reports(certificate, (lambda url: url.replace("rtsps:", "rtsp:"), {}))
    assert report.verdict == "tls_failed", str(report)
    assert "rtsps" in report.cause


def test_certificates_that_cannot_be_read_are_told(certificate, tmp_path):
    """A bundle that is missing or no certificate is `tls_failed`, with the reason."""
    broken = tmp_path / "broken.pem"
    broken.write_text("nothing")
    for path in (tmp_path / "missing.pem", broken):
        (report,) = reports(certificate, (str, {"verify": str(path)}))
        assert report.verdict == "tls_failed"
        assert "cannot be read" in report.cause
