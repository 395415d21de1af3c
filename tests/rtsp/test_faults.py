"""The faults of cameras that are shipped: the preflight names each, and ffprobe sees no picture."""

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

import confkit as ck
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
    assert FAULTS.items() <= Sandbox.camera_faults().items()

    def tried(name):
        login = () if name == "auth_required" else LOGIN
        return ck.preflight(zoo.camera(fault=name, **SMALL), *login, timeout=2).verdict

    with ThreadPoolExecutor(len(FAULTS)) as pool:
        verdicts = dict(zip(FAULTS, pool.map(tried, FAULTS), strict=True))
    assert verdicts == {name: fault.verdict for name, fault in FAULTS.items()}


def test_a_fault_may_be_a_row_of_ones_own(zoo):
    """What is unplugged frees its path. A fault after the login wants the camera's login."""
    refused = partial(replace, refusals={"DESCRIBE": "403 Forbidden"})
    url = zoo.camera("odd", fault=CameraFault("forbidden", "Answers 403.", refused), **SMALL)
    assert ck.preflight(url).verdict == "forbidden"
    zoo.unplug(url)
    assert ck.preflight(zoo.camera("odd", *LOGIN, fault="busy", **SMALL)).verdict == "auth_required"


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("no such fault.*camera_faults.*locked", {"fault": "blue"}),
        ("one of h264, h265, mjpeg", {"codec": "vp8"}),
        ("steps of 2", {"size": (640, 361)}),
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
