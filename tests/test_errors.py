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
    assert not issubclass(ck.OutcomeUnknown, ck.ApiError)
    assert {kind for kind in KINDS if kind.retry} == {ck.TransportError, ck.TransportTimeout}


@pytest.mark.parametrize("interface", CODES)
def test_each_code_raises_the_class_that_fits_it(interface):
    """With all that is known as fields; what the service says is quoted if it says more."""
    for kind, rets in CODES[interface].items():
        theirs = type(kind.__name__, (ck.ApiError,), {})  # a user's class of the same name
        for ret in rets:
            error = errors.api_error(ret, interface, "A3", "get room", "gone fishing", 503)
            row = ck.explain(ret, interface)
            assert type(error) is kind is not theirs
            assert (error.ret, error.interface, error.endpoint) == (ret, interface, "A3")
            assert (error.meaning in row.meaning, error.retry, error.status) == (1, row.retry, 503)
            text = f"get room (A3) answered {ret} under HTTP 503: {error.meaning}. "
            assert str(error) == f"{text}The service says: gone fishing. {error.advice}"
            error = errors.api_error(ret, interface, "A3", "get room", f" {error.meaning.upper()}.")
            assert str(error) == f"{text.replace(' under HTTP 503', '')}{error.advice}"


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_keeps_its_fields_in_a_copy_and_in_another_process(kind):
    with pytest.raises(kind) as raised:
        raise kind("the text.", "ask", cause="why")
    error = raised.value
    device = ck.Device("1", "2", "Door", "rtsp://a:hunter2@h/x")
    vars(error).update(retry=not kind.retry, ret="E17", endpoint="B1", sent=False, device=device)
    for copied in (copy.deepcopy(error), error.again(), pickle.loads(pickle.dumps(error))):
        assert (copied is not error, type(copied), copied.args) == (True, kind, error.args)
        assert (str(copied), copied.summary) == ("the text.: why. ask", "the text.: why")
        assert vars(copied) == vars(error)
    assert (error.again(ret=5).ret, error.again().__traceback__) == (5, None)


@pytest.mark.parametrize(("place", "interface"), [(1, "A"), (2, "B"), (3, None)])
def test_each_code_has_its_meaning_and_a_next_step(place, interface):
    """The meaning of section 7, word for word if it is specified."""
    table = reference("7").split("| ret ")[place]
    rows = re.findall(r"(?m)^\| (\d+) +\| (.+?) +\|$", table)
    assert len(rows) == (17, 11, 39)[place - 1]
    for ret, meaning in rows:
        code = ck.explain(int(ret), interface)
        if interface and ret != "424":
            assert code.sure == "specified"
            assert code.meaning.partition("; other")[0] == meaning
        elif ret not in ("416", "424"):
            assert meaning[:12] in code.meaning
            assert (code.sure, code) == ("seen", ck.explain(int(ret), "A"))
            assert "(seen in other deployments)" in str(code)
        assert code.advice.endswith(".")
        assert len(code.advice) > 20
        text = " ".join(str(code).split())
        assert all(part in text for part in (ret, code.meaning, code.advice))


READ, CHANGE = "A read can be repeated", "A change may have happened: check before you"
SAYS = [  # the arguments, and what the explanation says, and does not say
    ((401,), ["A: authentication failed; B: wrong parameters", "A: The service", "B: A param"], []),
    ((401, "A"), ["401 in interface A: authentication failed (specified)", "doctor"], ["wrong"]),
    ((424,), ["meaning not known anywhere", "(unknown)", "No cause", CHANGE], [READ]),
    ((416, "A"), ["416 in interface A: room closed; other deployments: the MCU does not have"], []),
    ((ck.RoomNotFound("no code"),), ["no result code: not a code of the interface"], []),
    ((errors.api_error(401, "A", "A1", "authenticate"),), ["in interface A:"], ["B:"]),
    *(((ret,), [READ, CHANGE], []) for ret in (504, 310, 503)),
    *(((ret,), [CHANGE], [READ]) for ret in (427, 700)),
    *(
        ((ret,), [f"{ret}: not a code of the interface, and none seen", CHANGE], [READ])
        for ret in (-1, 10**30, "E17", "4\u06604")
    ),
]


@pytest.mark.parametrize(("arguments", "says", "not_said"), SAYS)
def test_what_an_explanation_says(arguments, says, not_said):
    text = " ".join(repr(ck.explain(*arguments)).split())
    assert [part for part in says if part not in text] == []
    assert [part for part in not_said if part in text] == []


def test_there_are_two_interfaces():
    for interface in ("C", ""):
        with pytest.raises(ValueError, match=r"A .*B"):
            ck.explain(401, interface)
