"""Addresses that are no place for a camera: named as such, and not followed to."""

import pandas as pd
import pytest

import confkit as ck
from confkit.rtsp.places import kind
from confkit.rtsp.preflight import preflight

from .fakes import SDP, instead, tried

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
    ("host", "what"),
    [
        ("169.254.169.254", "metadata"),
        ("[::ffff:169.254.169.254]", "metadata"),
        ("2852039166", "metadata"),
        ("169.254.9.9", "link-local"),
        ("metadata.google.internal", "metadata"),
        ("[fe80::1]", "link-local"),
    ],
)
def test_such_an_address_is_named_and_no_redirection_leads_there(host, what):
    """The preflight warns of it, whatever answers there; a camera that redirects there is reported
    as doing so, and no connection is made."""
    if host[0].isdigit():
        report = preflight(f"rtsp://{host}:9/", timeout=0.05)
        [notice] = report.warnings
        assert (notice.key, notice.grade) == (f"{what.replace('-', '_')}_address", "warning")
        assert notice.text in str(report)
    away = f"rtsp://admin:secret@{host}:80/latest/meta-data"
    report, fake = tried(instead("DESCRIBE", 302, Location=away))
    assert (report.ok, report.verdict, fake.connections) == (False, "redirected", 1)
    assert "nothing was sent" in report.cause
    assert what in report.cause.replace(host, "")
    assert "secret" not in str(report)
    assert [stage.name for stage in report.stages].count("TCP") == 1


@pytest.mark.parametrize(
    "told",
    [
        instead("DESCRIBE", body=SDP, Content_Base="rtsp://169.254.169.254/live/"),
        instead("DESCRIBE", body=SDP.replace(b"track1", b"rtsp://2852039166/track1")),
    ],
)
def test_a_description_that_names_such_an_address_is_told(told):
    """Content-Base and a track's address that lead there are named; the connection stays."""
    report, fake = tried(told, timeout=0.5)
    assert [one.key for one in report.warnings] == ["described_metadata_address"]
    assert "PLAY" in fake.methods


def test_an_import_table_and_a_diagnosis_name_such_an_address(client):
    """A metadata address in a table is a problem; a link-local one is reported with its outcome.
    The diagnosis of a device warns of its address, also where that cannot be tried."""
    room_id = ck.create_room(client, "Lab", "ops")
    row = {"room_id": [room_id], "user_id": ["c"], "user_name": ["C"]}

    def outcome(address, **options):
        table = pd.DataFrame({**row, "user_address": [address]})
        [found] = ck.import_devices(client, table, dry_run=True, **options).itertuples()
        return found.outcome, "link-local" in found.cause

    with pytest.raises(ck.TableError, match="cloud's metadata service"):
        outcome("rtsp://0xa9fea9fe/latest")
    assert outcome("rtsp://169.254.1.2:9/", preflight=False) == ("ready", True)
    assert outcome("rtsp://169.254.1.2:9/", timeout=0.05) == ("preflight failed", True)
    for address in ("sip://x", "sip://169.254.169.254", "rtsp://2852039166:9/"):
        report = ck.diagnose_device(client, room_id, "c", address, timeout=0.05)
        keys = [one.key for one in report.warnings]
        assert keys == ([] if address == "sip://x" else ["metadata_address"])
