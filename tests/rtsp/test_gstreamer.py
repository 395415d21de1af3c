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
    found = (
        shutil.which(PYTHON)
        and not subprocess.run([PYTHON, "-c", IMPORT], capture_output=True).returncode
    )
    need("GStreamer's RTSP server", found, "apt-get install python3-gi gir1.2-gst-rtsp-server-1.0")
    with subprocess.Popen(
        [PYTHON, SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield [f"rtsp://127.0.0.1:{port}" for port in process.stdout.readline().split()]
        process.stdin.close()


@pytest.mark.parametrize(
    ("path", "codec", "transport"),
    [
        ("h264", "h264", "tcp"),
        ("h265", "h265", "tcp"),
        ("sound", "h264", "tcp"),
        ("udp", "h264", "udp"),
    ],
)
def test_its_streams_pass(server, path, codec, transport):
    """Every codec plays, with sound beside it, and over UDP alone."""
    report = preflight(f"{server[0]}/{path}")
    assert report.ok, str(report)
    assert (report.codec, report.transport) == (codec, transport)
    assert (report.width, report.height) == (320, 240)


def test_its_login_is_answered(server):
    """Its digest login opens the camera, a wrong one is rejected, none is asked for."""
    report = preflight(f"{server[1]}/login", "admin", "s3cret")
    assert (report.verdict, report.authentication) == ("ok", "Digest MD5"), str(report)
    assert preflight(f"{server[1]}/login", "admin", "wrong").verdict == "auth_rejected"
    assert preflight(f"{server[1]}/login").verdict == "auth_required"


def test_its_refusals_have_verdicts(server):
    """An unknown path and an unknown codec are told apart."""
    assert preflight(f"{server[0]}/nothing").verdict == "path_not_found"
    assert preflight(f"{server[0]}/vp8").verdict == "codec_unsupported"


def test_its_b_frames_are_noticed(server):
    """Pictures that come in another order than they are shown in earn a notice."""
    report = preflight(f"{server[0]}/reordered", observe=1)
    assert "b_frames" in [notice.key for notice in report.warnings], str(report)
