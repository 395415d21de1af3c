"""The preflight against cameras of somebody else's making: Debian's GStreamer RTSP server."""

import shutil
import subprocess
from pathlib import Path

import pytest

from confkit.rtsp.preflight import preflight
from tests.conftest import need

PYTHON = "/usr/bin/python3"
IMPORT = "import gi; gi.require_version('GstRtspServer', '1.0')"


@pytest.mark.nightly
def test_its_streams_have_their_verdicts():
    """With sound beside it, and over UDP alone; its login is answered."""
    run = [PYTHON, "-c", IMPORT]
    found = shutil.which(PYTHON) and not subprocess.run(run, capture_output=True).returncode
    need("GStreamer's RTSP server", found, "apt-get install python3-gi gir1.2-gst-rtsp-server-1.0")
    server = Path(__file__).with_name("gstreamer_server.py")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([PYTHON, server], **pipes, text=True) as process:
        plain, locked = process.stdout.readline().split()
        for port, path, login, verdict, transport in (
            (plain, "h265", (), "ok", "tcp"),
            (plain, "sound", (), "ok", "tcp"),
            (plain, "udp", (), "ok", "udp"),
            (plain, "nothing", (), "path_not_found", None),
            (plain, "vp8", (), "codec_unsupported", None),
            (locked, "login", ("admin", "s3cret"), "ok", "tcp"),
            (locked, "login", ("admin", "wrong"), "auth_rejected", None),
        ):
            report = preflight(f"rtsp://127.0.0.1:{port}/{path}", *login)
            assert (report.verdict, report.transport) == (verdict, transport), str(report)
        process.stdin.close()
