"""The preflight against cameras of somebody else's making: Debian's GStreamer RTSP server."""

import shutil
import subprocess
from pathlib import Path

import pytest

from confkit.rtsp.preflight import preflight
from tests.conftest import need

PYTHON = "/usr/bin/python3"
SERVER = Path(__file__).with_name("gstreamer_server.py")
pytestmark = pytest.mark.nightly
IMPORT = "import gi; gi.require_version('GstRtspServer', '1.0')"


@pytest.fixture(scope="module")
def server():
    """The addresses of an open server and of one that wants a login, without a path."""
    run = [PYTHON, "-c", IMPORT]
    found = shutil.which(PYTHON) and not subprocess.run(run, capture_output=True).returncode
    need("GStreamer's RTSP server", found, "apt-get install python3-gi gir1.2-gst-rtsp-server-1.0")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([PYTHON, SERVER], **pipes, text=True) as process:
        yield [f"rtsp://127.0.0.1:{port}" for port in process.stdout.readline().split()]
        process.stdin.close()


def test_its_streams_have_their_verdicts(server):
    """Every codec plays, with sound beside it, and over UDP alone; an unknown path and an unknown
    codec are told apart."""
    for path, verdict, codec, transport in (
        ("h264", "ok", "h264", "tcp"),
        ("h265", "ok", "h265", "tcp"),
        ("sound", "ok", "h264", "tcp"),
        ("udp", "ok", "h264", "udp"),
        ("nothing", "path_not_found", None, None),
        ("vp8", "codec_unsupported", None, None),
    ):
        report = preflight(f"{server[0]}/{path}")
        found = (report.verdict, report.codec, report.transport, report.width)
        assert found == (verdict, codec, transport, codec and 320), str(report)


def test_its_login_is_answered(server):
    """Its digest login opens the camera, a wrong one is rejected, none is asked for."""
    report = preflight(f"{server[1]}/login", "admin", "s3cret")
    assert (report.verdict, report.authentication) == ("ok", "Digest MD5"), str(report)
    assert preflight(f"{server[1]}/login", "admin", "wrong").verdict == "auth_rejected"
    assert preflight(f"{server[1]}/login").verdict == "auth_required"
