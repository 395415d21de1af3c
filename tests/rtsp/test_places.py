"""Addresses that are no place for a camera: named as such, and not followed to."""

import pytest

import confkit as ck
from confkit.rtsp.places import kind
from confkit.rtsp.preflight import preflight

from .fakes import SDP, instead, of_script

METADATA = (
    "169.254.169.254", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376",
    "025177524776", "169.254.43518", "169.16689662", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe",
    "[::ffff:169.254.169.254]", "::169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::",
    "metadata.goog", "instance-data.ec2.internal",
    "fd00:ec2::254", "FD00:EC2:0::254", "metadata.google.internal", "Metadata.Google.Internal.",
    "169.254.170.2", "100.100.100.200", "\uff11\uff16\uff19.254.169.254",
    "169\u3002254\u3002169\u3002254",
)  # fmt: skip
LINK_LOCAL = ("169.254.1.2", "fe80::1", "fe80::1%eth0", "::ffff:169.254.7.7", "0xa9fe0101")
OTHERS = {"10.0.0.7": "private", "cam.local": "private", "192.0.2.7": "private", "8.8.8.8": "",
          "127.0.0.1": "loopback", "2130706433": "loopback", "0.0.0.0": "loopback",
          "::1": "loopback", "localhost": "loopback", "camera.example": "", "169.254.example": "",
          "64:ff9b::7f00:1": "loopback", "2001:4860::1": "", "a9fea9fe": "", "99999999999": "",
          "": ""}  # fmt: skip


def test_every_form_of_an_address_that_a_system_takes_is_seen_through():
    """Metadata and link-local addresses are reported in digits of any form, mapped, and by name."""
    assert {host: kind(host) for host in METADATA} == dict.fromkeys(METADATA, "metadata")
    assert {host: kind(host) for host in LINK_LOCAL} == dict.fromkeys(LINK_LOCAL, "link-local")
    assert {host: kind(host) for host in OTHERS} == OTHERS


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("169.254.169.254", "metadata_address"),
        ("[::ffff:169.254.169.254]", "metadata_address"),
        ("2852039166", "metadata_address"),
        ("169.254.1.2", "link_local_address"),
    ],
)
def test_the_report_names_such_an_address_whatever_becomes_of_it(host, key):
    """The preflight warns of a link-local or metadata address, also where nothing answers."""
    report = preflight(f"rtsp://{host}:9/", timeout=0.05)
    assert [(one.key, one.grade) for one in report.warnings] == [(key, "warning")]
    assert report.warnings[0].text in str(report)


@pytest.mark.parametrize(
    ("host", "what"),
    [
        ("169.254.169.254:80", "metadata"),
        ("[::ffff:169.254.169.254]:80", "metadata"),
        ("2852039166", "metadata"),
        ("metadata.google.internal", "metadata"),
        ("169.254.9.9", "link-local"),
        ("[fe80::1]", "link-local"),
    ],
)
def test_a_redirection_to_such_an_address_is_not_followed(host, what):
    """A camera that redirects there is reported as doing so, and no connection is made."""
    away = f"rtsp://admin:secret@{host}/latest/meta-data"
    report = of_script(instead("DESCRIBE", 302, Location=away))
    assert (report.ok, report.verdict) == (False, "redirected")
    assert "nothing was sent" in report.cause
    assert what in report.cause.replace(host, "")
    assert "secret" not in str(report)
    connected = [stage.name for stage in report.stages].count("TCP")
    assert connected == 1


def test_a_description_that_names_such_an_address_is_told():
    """Content-Base and a track's address that lead there are named; the connection stays."""
    for told in (
        instead("DESCRIBE", body=SDP, Content_Base="rtsp://169.254.169.254/live/"),
        instead("DESCRIBE", body=SDP.replace(b"track1", b"rtsp://2852039166/track1")),
    ):
        seen = []
        report = of_script(told, seen=seen, timeout=1)
        assert [one.key for one in report.warnings] == ["described_metadata_address"]
        assert "PLAY" in seen[0].methods


def test_an_import_table_names_such_an_address(client):
    """A metadata address in a table is a problem; a link-local one is reported with its outcome."""
    room_id = ck.create_room(client, "Lab", "ops")

    def outcome(address, **options):
        rows = [{"room_id": room_id, "user_id": "c", "user_name": "C", "user_address": address}]
        import pandas as pd

        return ck.import_devices(client, pd.DataFrame(rows), dry_run=True, **options)

    with pytest.raises(ck.TableError, match="cloud's metadata service"):
        outcome("rtsp://0xa9fea9fe/latest")
    found = outcome("rtsp://169.254.1.2:9/", preflight=False)
    assert list(found.outcome) == ["ready"]
    assert "link-local" in found.cause[0]
    found = outcome("rtsp://169.254.1.2:9/", timeout=0.05)
    assert list(found.outcome) == ["preflight failed"]
    assert "link-local" in found.cause[0]


@pytest.mark.parametrize("address", ["sip://x", "sip://169.254.169.254", "rtsp://2852039166:9/"])
def test_a_diagnosis_names_such_an_address(client, address):
    """The diagnosis of a device warns of its address, also where that cannot be tried."""
    room_id = ck.create_room(client, "Lab", "ops")
    report = ck.diagnose_device(client, room_id, "c", address, timeout=0.05)
    keys = [one.key for one in report.warnings]
    assert keys == ([] if address == "sip://x" else ["metadata_address"])
