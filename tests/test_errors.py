"""Errors: one base, the builtins that one expects, all fields kept; and `explain` for each code."""

import copy
import pickle
import traceback

import pytest

import confkit as ck
from confkit import errors
from tests.codes import EVERY, FIELD, OTHERS, SPECIFIED

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
CLASSES = {where: kind for where, (_, kind) in SPECIFIED.items() if where[1]} | OTHERS


def test_an_error_is_the_builtin_that_one_expects():
    """And no other: a result code is no failure of the connection, and an open outcome neither."""
    for builtin, kinds in BUILTINS.items():
        assert {kind for kind in KINDS if issubclass(kind, builtin)} == kinds
    assert not issubclass(ck.OutcomeUnknown, ck.ApiError)
    assert {kind for kind in KINDS if kind.retry} == {ck.TransportError, ck.TransportTimeout}


@pytest.mark.parametrize(("where", "kind"), CLASSES.items())
def test_each_code_raises_the_class_that_fits_it(where, kind):
    """That of the code in its own interface, whatever others call theirs, with all that is known as
    fields; what the service says is quoted, where it says more than the meaning."""
    interface, ret = where
    theirs = type(kind.__name__, (ck.ApiError,), {})
    error = errors.api_error(ret, interface, "A3", "get room", "gone fishing", 503)
    row = ck.explain(ret, interface)
    assert type(error) is kind is not theirs
    assert (error.ret, error.interface, error.endpoint, error.status) == (ret, interface, "A3", 503)
    assert (error.meaning in row.meaning, error.retry) == (True, row.retry)
    text = f"get room (A3) answered {ret} under HTTP 503: {error.meaning}. "
    assert str(error) == f"{text}The service says: gone fishing. {error.advice}"
    for nothing_new in ("", f" {error.meaning.upper()}."):
        error = errors.api_error(ret, interface, "A3", "get room", nothing_new)
        assert str(error) == f"{text.replace(' under HTTP 503', '')}{error.advice}"


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_arrives_whole(kind):
    """Copied or sent to another process, an error keeps its class, its text and its fields; one
    that is raised again has a traceback of its own, which shows the class and the text alone."""
    with pytest.raises(kind) as raised:
        raise kind("the text.", "ask", cause="why")
    error = raised.value
    device = ck.Device("1", "2", "Door", "rtsp://a:hunter2@h/x")
    vars(error).update(retry=not kind.retry, ret="E17", endpoint="B1", sent=False, device=device)
    for arrived in (copy.deepcopy(error), error.again(), pickle.loads(pickle.dumps(error))):
        assert (arrived is not error, type(arrived), arrived.args) == (True, kind, error.args)
        assert (str(arrived), arrived.summary) == ("the text.: why. ask", "the text.: why")
        assert vars(arrived) == vars(error)
    assert (error.again(ret=5).ret, error.again().__traceback__) == (5, None)
    lines = traceback.format_exception_only(kind("the text."))
    assert lines == [f"confkit.{kind.__module__.split('.')[1]}.{kind.__name__}: the text.\n"]


@pytest.mark.parametrize(("interface", "ret"), EVERY)
def test_each_code_has_its_meaning_and_a_next_step(interface, ret):
    """The specification's meaning word for word, and that of other deployments as seen there."""
    code = ck.explain(ret, interface)
    if row := SPECIFIED.get((interface, ret)):
        assert code.sure == "specified"
        assert code.meaning == row[0] or ret == 416  # which has another meaning elsewhere
    elif ret in FIELD:
        assert FIELD[ret].lower() in code.meaning.lower()
        assert (code.sure, code) == ("seen", ck.explain(ret, "A"))
        assert "(seen in other deployments)" in str(code)
    assert code.advice.endswith(".")
    assert len(code.advice) > 20
    shown = " ".join(str(code).split())
    assert all(text in shown for text in (f"{ret}", code.meaning, code.advice))


A_READ, A_CHANGE = "A read can be repeated", "A change may have happened: check before you"
SAYS = [  # what is asked for, and what the explanation says, and does not say
    ((401,), ["A: authentication failed; B: wrong parameters", "A: The service", "B: A param"], []),
    ((401, "A"), ["401 in interface A: authentication failed (specified)", "doctor"], ["wrong"]),
    ((401, " b "), ["401 in interface B: wrong parameters"], ["authentication", "doctor"]),
    *(
        ((424, where), ["meaning not known anywhere", "(unknown)", "No cause", A_CHANGE], [A_READ])
        for where in (None, "B")
    ),
    ((416, "A"), ["416 in interface A: room closed; other deployments: the MCU does not have"], []),
    ((602, "B"), ["602 in interface A: access_token incorrect", "confkit doctor"], [A_CHANGE]),
    ((" 0404",), ["404 in interface A: room not found"], []),
    ((ck.RoomNotFound("no code"),), ["no result code: not a code of the interface"], []),
    ((errors.api_error(401, "A", "A1", "authenticate"),), ["in interface A:"], ["B:"]),
    *(((ret,), [A_READ, A_CHANGE], []) for ret in (504, 409, 310, 503)),
    *(((ret,), [A_CHANGE], [A_READ]) for ret in (427, 700)),
    *(((ret,), [], [A_READ, A_CHANGE]) for ret in (404, 423, 426)),
    *(
        ((ret,), [f"{ret}: not a code of the interface, and none seen", A_CHANGE], [A_READ])
        for ret in (1, -1, 10**30, "E17", "4\u06604", "²", "4 04", "--1", "<b>'x'&\"")
    ),
]


@pytest.mark.parametrize(("given", "says", "not_said"), SAYS)
def test_what_an_explanation_says(given, says, not_said):
    """Where A and B differ, both; whether a read or a change may be sent again. Its repr, which a
    notebook shows, is its text."""
    text = " ".join(str(ck.explain(*given)).split())
    assert [part for part in says if part not in text] == []
    assert [part for part in not_said if part in text] == []
    assert repr(ck.explain(*given)) == str(ck.explain(*given))


def test_there_are_two_interfaces():
    """Another name is a ValueError that names both."""
    for interface in ("C", "", "AB", "8080"):
        with pytest.raises(ValueError, match=r"A .*B"):
            ck.explain(401, interface)
