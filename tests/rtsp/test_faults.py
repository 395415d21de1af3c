"""The faults of cameras that are shipped: the preflight names each."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from confkit.sandbox.cameras.faults import FAULTS

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


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("no such fault.*camera_faults.*locked", {"fault": "blue"}),
        ("steps of 2", {"size": (640, 361)}),
        ("'ntlm' is not one of digest, md5", {"auth": "ntlm"}),
        ("tcp, udp or both", {"transports": ["http"]}),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_choices(zoo, message, wrong):
    with pytest.raises(ValueError, match=message):
        zoo.camera(**wrong)
