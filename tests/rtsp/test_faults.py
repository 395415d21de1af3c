"""The faults of cameras that are shipped: the preflight names each, and ffprobe sees no picture."""

import inspect
import json
import shutil
import subprocess
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
    given = " ".join(inspect.signature(Sandbox.camera).parameters)
    names = "path login_name login_password codec size fps keyframe_every auth fault"
    assert given.startswith(f"self {names} ")


def test_a_fault_has_its_own_name_and_that_of_its_verdict(zoo):
    """`locked` and `auth_locked` are one fault, and a row of one's own is taken, too; an unknown
    name is an error that lists all. A fault after the login wants the login that was given. What
    is unplugged frees its path or port."""
    own = CameraFault("forbidden", "Answers 403.", camera=answers("DESCRIBE", answer(403)))
    for fault, verdict in (("auth_locked", "auth_locked"), (own, "forbidden"), ("refused",) * 2):
        url = zoo.camera("odd", fault=fault, **SMALL)
        assert ck.preflight(url).verdict == verdict
        zoo.unplug(url)
    assert ck.preflight(zoo.camera("odd", *LOGIN, fault="busy", **SMALL)).verdict == "auth_required"
    for wrong in ("blue", "", []):
        with pytest.raises(ValueError, match=r"no such fault.*camera_faults.*locked"):
            zoo.camera(fault=wrong)


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
        ({"max_viewers": 0}, "above 0, nor None"),
        ({"path": "a b"}, "space"),
        ({"fault": "no_picture", "codec": "mjpeg"}, "h264 or h265"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_choices(zoo, wrong, said):
    """Whatever makes no sense is a ValueError that says what does, with the fault too."""
    with pytest.raises(ValueError, match=said):
        zoo.camera(**wrong)


LOOK = (
    "ffprobe -v error -rtsp_transport tcp -timeout 2000000 -analyzeduration 500000 "
    "-select_streams v -show_entries frame=pict_type -read_intervals %+#1 -of json"
)


@pytest.mark.nightly
def test_ffprobe_sees_a_picture_where_no_fault_is(zoo):
    """FFmpeg shows a healthy camera, and none with a fault; it trusts any certificate."""
    need("ffprobe", shutil.which("ffprobe"), "apt-get install ffmpeg")
    urls = {name: zoo.camera(fault=name) for name in FAULTS} | {"healthy": zoo.camera()}

    def seen(name):
        url = urls[name].replace("//", "//admin:admin@" if name == "auth_rejected" else "//")
        line = ["timeout", "20", *LOOK.split(), url]  # some hang until they are killed
        output = subprocess.run(line, capture_output=True, text=True).stdout
        return bool(json.loads(output or "{}").get("frames"))

    with ThreadPoolExecutor(12) as threads:
        found = dict(zip(urls, threads.map(seen, urls), strict=True))
    assert {name for name in found if found[name]} == {"healthy", "untrusted_certificate"}
