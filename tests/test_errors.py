"""Errors: one base, the builtins that one expects, and all fields kept on their way."""

import copy
import pickle
import traceback

import pytest

import confkit as ck
from confkit import errors
from tests.codes import OTHERS, SPECIFIED

KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)
]
BUILTINS = {
    ValueError: (ck.ConfigError, ck.UserExists, ck.ParameterError),
    PermissionError: (ck.ReadOnlyError, ck.AuthenticationFailed, ck.TokenRejected),
    ConnectionError: (ck.TransportError, ck.TransportTimeout),
    TimeoutError: (ck.TransportTimeout, ck.ServiceTimeout),
    LookupError: (ck.RoomNotFound, ck.UserNotFound),
}
CLASSES = {where: kind for where, (_, kind) in SPECIFIED.items() if where[1]} | OTHERS


def test_an_error_is_the_builtin_that_one_expects():
    """And no other: a result code is no failure of the connection, and an open outcome neither."""
    for builtin in BUILTINS:
        assert {kind for kind in KINDS if issubclass(kind, builtin)} == {*BUILTINS[builtin]}
    assert not issubclass(ck.OutcomeUnknown, ck.ApiError)
    assert {kind for kind in KINDS if kind.retry} == {ck.TransportError, ck.TransportTimeout}


@pytest.mark.parametrize(("where", "kind"), CLASSES.items())
def test_each_code_raises_the_class_that_fits_it(where, kind):
    """That of the code in its own interface, whatever others call theirs, with all that is known as
    fields; what the service says is quoted, where it says more than the meaning."""
    interface, ret = where
    theirs = type(kind.__name__, (ck.ApiError,), {})
    assert theirs in ck.ApiError.__subclasses__()
    error = errors.api_error(ret, interface, "A3", "get room", "gone fishing", 503)
    row = ck.explain(ret, interface)
    assert type(error) is kind
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
    that is raised again has a traceback of its own. That shows the class and the text alone."""
    with pytest.raises(kind) as raised:
        raise kind("the text.", "ask", cause="why")
    error = raised.value
    device = ck.Device("1", "2", "Door", "rtsp://a:hunter2@h/x")
    vars(error).update(retry=not kind.retry, ret="E17", endpoint="B1", sent=False, device=device)
    pickled = [pickle.loads(pickle.dumps(error, number)) for number in range(2, 6)]
    for arrived in (copy.copy(error), copy.deepcopy(error), error.again(), *pickled):
        assert arrived is not error
        assert (type(arrived), arrived.args) == (kind, error.args)
        assert (str(arrived), arrived.summary) == ("the text.: why. ask", "the text.: why")
        assert vars(arrived) == vars(error)
    assert error.again(ret=5).ret == 5
    assert error.again().__traceback__ is None
    lines = traceback.format_exception_only(kind("the text."))
    assert lines == [f"confkit.{kind.__module__.split('.')[1]}.{kind.__name__}: the text.\n"]
