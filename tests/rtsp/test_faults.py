"""The faults of cameras that are shipped: the preflight names each, and ffprobe sees no picture."""

import inspect
import json
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import confkit as ck
from confkit.rtsp.verdicts import VERDICTS
from confkit.sandbox import Sandbox
from confkit.sandbox.cameras.faults import FAULTS, CameraFault, answers
from confkit.sandbox.cameras.session import answer
from tests.conftest import need

from .fakes import SMALL

LOGIN = "admin", "admin"


@pytest.fixture(scope="module")
def zoo():
    with Sandbox(seed=1) as sandbox:
        yield sandbox


def test_a_preflight_names_each_fault(zoo):
    """Whatever is on the wire, the report has the verdict that the fault names."""
    assert FAULTS.items() <= Sandbox.camera_faults().items()
    assert all(fault.wire.endswith(".") for fault in FAULTS.values())
    assert {fault.verdict for fault in FAULTS.values()} <= set(VERDICTS)

    def tried(name):
        login = () if name == "auth_required" else LOGIN
        return ck.preflight(zoo.camera(fault=name, **SMALL), *login, timeout=2).verdict

    with ThreadPoolExecutor(len(FAULTS)) as pool:
        found = dict(zip(FAULTS, pool.map(tried, FAULTS), strict=True))
    assert found == {name: fault.verdict for name, fault in FAULTS.items()}


def test_the_parameters_of_a_camera_keep_their_order():
    """Path and login come first, then the picture, and the fault last; the rest is by name."""
    names = [*inspect.signature(Sandbox.camera).parameters][1:]
    assert names[:6] == ["path", "login_name", "login_password", "codec", "size", "fps"]
    assert names[6:] == [
        "keyframe_every",
        "auth",
        "fault",
        "name",
        "transports",
        "max_viewers",
        "tls",
    ]


def test_a_fault_has_its_own_name_and_that_of_its_verdict(zoo):
    """`locked` and `auth_locked` are one fault, and a row of one's own is taken, too; an unknown
    name is an error that lists all."""
    own = CameraFault("forbidden", "Answers 403.", camera=answers("DESCRIBE", answer(403)))
    for fault, verdict in (("auth_locked", "auth_locked"), (own, "forbidden")):
        assert ck.preflight(zoo.camera(fault=fault, **SMALL)).verdict == verdict
    for wrong in ("blue", "ok", "", 5, []):
        with pytest.raises(ValueError, match=r"no such fault.*camera_faults.*locked"):
            zoo.camera(fault=wrong)


def test_the_given_login_is_that_of_the_faulty_camera(zoo):
    """A fault that comes after the login asks for the login that was given."""
    url = zoo.camera(None, *LOGIN, fault="busy", **SMALL)
    assert ck.preflight(url).verdict == "auth_required"
    assert ck.preflight(url, *LOGIN).verdict == "busy"


def test_every_faulty_camera_can_be_unplugged(zoo):
    """unplug() takes the address that camera() gave, and frees the path or the port."""
    for fault in ("refused", "connect_timeout", "rtsp_silent", "wrong_path", "dns_failed", "busy"):
        zoo.unplug(zoo.camera("odd", fault=fault, **SMALL))
    assert zoo.camera("odd", **SMALL).endswith("/odd")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"codec": "vp8"}, "none of h264, h265, mjpeg"),
        ({"size": "640x360"}, r"such as \(640, 360\)"),
        ({"size": (640, 361)}, "steps of 2"),
        ({"size": (636, 360), "codec": "mjpeg"}, "steps of 8"),
        ({"fps": 29.97}, "whole number from 1 to 60"),
        ({"keyframe_every": float("nan")}, "up to 60 seconds"),
        ({"auth": "ntlm"}, "none of digest, sha-256, basic"),
        ({"transports": "tcp"}, "tcp"),
        ({"transports": ["TCP"]}, "tcp"),
        ({"max_viewers": 0}, "above 0, nor None"),
        ({"tls": "cert.pem"}, "ssl.SSLContext"),
        ({"login_name": 5}, "texts"),
        ({"path": "a b"}, "space"),
        ({"fault": "no_picture", "codec": "mjpeg"}, "h264 or h265"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_choices(zoo, wrong, said):
    """Whatever makes no sense is a ValueError that says what does, with the fault too."""
    with pytest.raises(ValueError, match=said):
        zoo.camera(**wrong)


# What ffprobe plays.
PLAYS = {"healthy", "untrusted_certificate"}
EVERY_DAY = ["healthy", "auth_rejected", "wrong_path"]
LOOK = (
    "ffprobe -v error -rtsp_transport tcp -timeout 2000000 -analyzeduration 500000 "
    "-select_streams v -show_entries frame=pict_type -read_intervals %+#1 -of json"
)


def look(name, url):
    """What ffprobe makes of an address: whether it sees a picture, and its last words."""
    began, patience = time.monotonic(), 60 if name in PLAYS else 8
    try:
        done = subprocess.run(
            [*LOOK.split(), url], capture_output=True, text=True, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return False, f"hangs until it is killed after {patience} s"
    line = (done.stderr.strip() or "not a word").splitlines()[-1].rpartition(": ")[2]
    seen = bool(json.loads(done.stdout or "{}").get("frames"))
    return seen, f"{line} (exit {done.returncode} after {time.monotonic() - began:.1f} s)"


@pytest.mark.timeout(600)  # some of them hang until they are killed
@pytest.mark.parametrize(
    "names",
    [
        EVERY_DAY,
        pytest.param(sorted({"healthy", *FAULTS} - {*EVERY_DAY}), marks=pytest.mark.nightly),
    ],
    ids=["every day", "all others"],
)
def test_what_ffprobe_says(zoo, names):
    """FFmpeg sees a picture of a healthy camera, and none where a fault is; `-rP` shows its words.

    It trusts any certificate."""
    need("ffprobe", shutil.which("ffprobe"), "apt-get install ffmpeg")
    urls = {name: zoo.camera(fault=None if name == "healthy" else name) for name in names}
    if "auth_rejected" in urls:
        urls["auth_rejected"] = urls["auth_rejected"].replace("//", "//admin:admin@")
    with ThreadPoolExecutor(12) as threads:
        found = dict(zip(urls, threads.map(look, urls, urls.values()), strict=True))
    for fault, (_, words) in found.items():
        print(f"{fault}: {words}")
    assert {fault for fault, (seen, _) in found.items() if seen} == PLAYS & set(names)


@pytest.mark.nightly
@pytest.mark.parametrize("codec", ["h264", "h265", "mjpeg"])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_gstreamer_plays_the_cameras(zoo, codec, protocol):
    """GStreamer, an independent client, logs in by digest and decodes; not with a wrong login."""
    need("GStreamer", shutil.which("gst-launch-1.0"), "see NIGHTLY in tests/__main__.py")
    url = zoo.camera(None, "admin", "s3cret", codec, **SMALL)

    def plays(password):
        line = (
            f"gst-launch-1.0 rtspsrc location={url} protocols={protocol} latency=0 user-id=admin "
            f"user-pw={password} ! decodebin ! video/x-raw ! fakesink num-buffers=5"
        )
        return subprocess.run(line.split(), capture_output=True, text=True, timeout=30)

    played = plays("s3cret")
    assert played.returncode == 0, played.stderr
    assert plays("wrong").returncode != 0
