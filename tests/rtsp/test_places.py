"""Addresses that are no place for a camera: named as such."""

import pandas as pd
import pytest

import confkit as ck
from confkit.rtsp.places import kind
from confkit.rtsp.preflight import preflight

KINDS = {
    "metadata": (
        "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.16689662",
        "::ffff:169.254.169.254", "[::ffff:a9fe:a9fe]", "FD00:EC2:0::254", "169.254.170.2",
        "100.100.100.200", "\uff11\uff16\uff19.254.169.254", "169\u3002254\u3002169\u3002254",
        "metadata.goog", "Metadata.Google.Internal.",
    ),
    "link-local": ("169.254.1.2", "fe80::1", "fe80::1%eth0", "::ffff:169.254.7.7", "0xa9fe0101"),
    "loopback": ("127.0.0.1", "2130706433", "0.0.0.0", "::1", "::ffff:127.0.0.1", "localhost"),
    "private": ("10.0.0.7", "cam.local", "192.0.2.7"),
    "": ("8.8.8.8", "2001:4860::1", "camera.example", "169.254.example", "a9fea9fe", "9" * 11, ""),
}  # fmt: skip


def test_every_form_of_an_address_that_a_system_takes_is_seen_through():
    """Metadata and link-local addresses are reported in digits of any form, mapped, and by name."""
    assert {name: tuple(h for h in hosts if kind(h) == name) for name, hosts in KINDS.items()} == (
        KINDS
    )


@pytest.mark.parametrize(
    ("host", "what"),
    [("169.254.169.254", "metadata"), ("2852039166", "metadata"), ("169.254.9.9", "link_local")],
)
def test_such_an_address_is_named(host, what):
    """The preflight warns of it, whatever answers there."""
    report = preflight(f"rtsp://{host}:9/", timeout=0.05)
    [notice] = report.warnings
    assert (notice.key, notice.grade) == (f"{what}_address", "warning")


def test_an_import_table_and_a_diagnosis_name_such_an_address(client):
    """A metadata address in a table is a problem; a link-local one is reported with its outcome,
    which is also that of a preflight. The diagnosis of a device warns of its address, also where
    that cannot be tried."""
    room_id = ck.create_room(client, "Lab", "ops")

    def planned(address, **options):
        row = {"room_id": room_id, "user_id": "c", "user_name": "C", "user_address": address}
        [found] = ck.import_devices(
            client, pd.DataFrame([row]), dry_run=True, **options
        ).itertuples()
        return found.outcome, "link-local" in found.cause

    with pytest.raises(ck.TableError, match="cloud's metadata service"):
        planned("rtsp://0xa9fea9fe/latest")
    assert planned("rtsp://169.254.1.2:9/", preflight=False) == ("ready", True)
    assert planned("rtsp://169.254.1.2:9/", timeout=0.05) == ("preflight failed", True)
    for address in ("sip://169.254.169.254", "rtsp://2852039166:9/"):
        report = ck.diagnose_device(client, room_id, "c", address, timeout=0.05)
        assert [one.key for one in report.warnings] == ["metadata_address"]
