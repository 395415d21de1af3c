"""Errors: their classes and builtin bases, what a copy keeps, and `explain` for each code."""

import copy
import pickle
import re

import pytest

import confkit as ck
from confkit import errors
from confkit.cli.services import reference

KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)
]
BUILTINS = {
    ValueError: {ck.ConfigError, ck.UserExists, ck.ParameterError},
    PermissionError: {ck.ReadOnlyError, ck.AuthenticationFailed, ck.TokenRejected},
    ConnectionError: {ck.TransportError, ck.TransportTimeout},
    TimeoutError: {ck.TransportTimeout, ck.ServiceTimeout},
    LookupError: {ck.RoomNotFound, ck.UserNotFound},
}
CODES = {
    "A": {
        ck.AuthenticationFailed: [401], ck.RoomNotFound: [404, 612], ck.ParameterError: [407],
        ck.LicenceError: [405, 411, 701], ck.MediaServerUnavailable: [410, 417, 428],
        ck.ServiceTimeout: [409, 504], ck.RoomClosed: [416], ck.UserNotFound: [429],
        ck.TokenRejected: [602], ck.ApiError: [0, 408, 424, 700, 4242]},
    "B": {
        ck.ServiceUnavailable: [302, 303, 304], ck.ServiceTimeout: [310, 427], ck.UserExists: [423],
        ck.ParameterError: [401], ck.UserNotFound: [425], ck.JoinFailed: [426],
        ck.TokenRejected: [602], ck.ApiError: [0, 404, 424, "E17"]},
}  # fmt: skip


def test_an_error_is_the_builtin_that_one_expects():
    for builtin, kinds in BUILTINS.items():
        assert {kind for kind in KINDS if issubclass(kind, builtin)} == kinds
    assert {kind for kind in KINDS if kind.retry} == {ck.TransportError, ck.TransportTimeout}


@pytest.mark.parametrize("interface", CODES)
def test_each_code_raises_the_class_that_fits_it(interface):
    """With all that is known as fields; what the service says is quoted."""
    for kind, rets in CODES[interface].items():
        for ret in rets:
            error = errors.api_error(ret, interface, "A3", "get room", "gone fishing", 503)
            fields = (error.ret, error.interface, error.endpoint, error.status, error.retry)
            assert type(error) is kind
            assert fields == (ret, interface, "A3", 503, ck.explain(ret, interface).retry)
            assert f"answered {ret} under HTTP 503: {error.meaning}. The serv" in str(error)
            assert str(error).endswith(f"gone fishing. {error.advice}")


def test_an_error_keeps_its_fields_in_a_copy_and_in_another_process():
    for kind in KINDS:
        error = kind("the text.", "ask", cause="why")
        vars(error).update(retry=not kind.retry, ret="E17", endpoint="B1", sent=False)
        for copied in (copy.deepcopy(error), error.again(), pickle.loads(pickle.dumps(error))):
            assert (type(copied), copied.args, vars(copied)) == (kind, error.args, vars(error))


@pytest.mark.parametrize(("place", "interface"), [(1, "A"), (2, "B"), (3, None)])
def test_each_code_has_its_meaning_and_a_next_step(place, interface):
    """The meaning of section 7, word for word if it is specified."""
    table = reference("7").split("| ret ")[place]
    for ret, meaning in re.findall(r"(?m)^\| (\d+) +\| (.+?) +\|$", table):
        code = ck.explain(int(ret), interface)
        assert code.advice
        if ret not in ("416", "424"):
            assert code.sure == ("specified" if interface else "seen")
            assert meaning[:12] in code.meaning


def test_a_code_that_nobody_knows_may_have_changed_something():
    text = " ".join(repr(ck.explain("E17")).split())
    assert "E17: not a code of the interface" in text
    assert "A change may have happened: check before you" in text
