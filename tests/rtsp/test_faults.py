"""The faults of cameras that are shipped: the preflight names each, and ffprobe sees no picture."""

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

import confkit as ck
from confkit.rtsp.errors import VERDICTS
from confkit.sandbox import Sandbox
from confkit.sandbox.cameras.faults import FAULTS, CameraFault
from tests.conftest import need

SMALL = {"size": (128, 96), "fps": 10}
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
        verdicts = dict(zip(FAULTS, pool.map(tried, FAULTS), strict=True))
    assert verdicts == {name: fault.verdict for name, fault in FAULTS.items()}


def test_a_fault_is_a_name_or_a_row(zoo):
    """A row of one's own is taken, too; an unknown name is an error that lists all. A fault after
    the login wants the camera's login. What is unplugged frees its path or port."""
    refusals = {"DESCRIBE": "403 Forbidden"}
    own = CameraFault("forbidden", "Answers 403.", partial(replace, refusals=refusals))
    for fault, verdict in (("locked", "auth_locked"), (own, "forbidden"), ("refused",) * 2):
        url = zoo.camera("odd", fault=fault, **SMALL)
        assert ck.preflight(url).verdict == verdict
        zoo.unplug(url)
    assert ck.preflight(zoo.camera("odd", *LOGIN, fault="busy", **SMALL)).verdict == "auth_required"
    for wrong in ("blue", ""):
        with pytest.raises(ValueError, match=r"no such fault.*camera_faults.*locked"):
            zoo.camera(fault=wrong)


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("one of h264, h265, mjpeg", {"codec": "vp8"}),
        ("steps of 2", {"size": (640, 361)}),
        ("steps of 8", {"size": (636, 360), "codec": "mjpeg"}),
        ("from 1 to 60", {"fps": 0}),
        ("one of digest, md5, sha-256, basic", {"auth": "ntlm"}),
        ("one of tcp, udp", {"transports": "tcp"}),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_choices(zoo, message, wrong):
    with pytest.raises(ValueError, match=message):
        zoo.camera(**wrong)


LOOK = (
    "ffprobe -v error -rtsp_transport tcp -timeout 2000000 -analyzeduration 500000 "
    "-select_streams v -show_entries frame=pict_type -read_intervals %+#1 -of json"
)


@pytest.mark.nightly
def test_ffprobe_sees_a_picture_where_no_fault_is(zoo):
    """FFmpeg shows a healthy camera, and none with a fault."""
    need("ffprobe", shutil.which("ffprobe"), "apt-get install ffmpeg")
    urls = {name: zoo.camera(fault=name) for name in FAULTS} | {"healthy": zoo.camera()}

    def seen(name):
        url = urls[name].replace("//", "//admin:admin@" if name == "auth_rejected" else "//")
        line = ["timeout", "20", *LOOK.split(), url]  # some hang until they are killed
        output = subprocess.run(line, capture_output=True, text=True).stdout
        return bool(json.loads(output or "{}").get("frames"))

    with ThreadPoolExecutor(12) as threads:
        frames = dict(zip(urls, threads.map(seen, urls), strict=True))
    assert {name for name in frames if frames[name]} == {"healthy"}
