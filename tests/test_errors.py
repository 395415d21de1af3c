"""Errors: one base, the builtins that one expects, and all attributes kept on their way."""

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
    ck.ConfigError: ValueError,
    ck.ReadOnlyError: PermissionError,
    ck.TransportError: ConnectionError,
    ck.TransportTimeout: TimeoutError,
    ck.AuthenticationFailed: PermissionError,
    ck.TokenRejected: PermissionError,
    ck.RoomNotFound: LookupError,
    ck.UserNotFound: LookupError,
    ck.UserExists: ValueError,
    ck.ParameterError: ValueError,
    ck.ServiceTimeout: TimeoutError,
}
CLASSES = {where: kind for where, (_, kind) in SPECIFIED.items() if where[1]} | OTHERS


def test_an_error_is_the_builtin_that_one_expects():
    """Each error can be caught as the builtin that says the same; a time-out of the wire is a
    failure of the connection, a code of the service is not."""
    for kind, builtin in BUILTINS.items():
        assert issubclass(kind, builtin)
    assert issubclass(ck.TransportTimeout, ck.TransportError)
    assert not issubclass(ck.ServiceTimeout, ck.TransportError)
    assert not issubclass(ck.ProtocolError, ck.ApiError)
    assert not issubclass(ck.OutcomeUnknown, ck.ApiError)
    assert {kind for kind in KINDS if kind.retry} == {ck.TransportError, ck.TransportTimeout}


@pytest.mark.parametrize(("where", "kind"), CLASSES.items())
def test_each_code_raises_the_class_that_fits_it(where, kind):
    """The class is that of the code in its own interface, with all that is known as attributes;
    what the service says is quoted, where it says something."""
    interface, ret = where
    error = errors.api_error(ret, interface, f"{interface}3", "get something", "gone fishing")
    told = ck.explain(ret, interface)
    assert type(error) is kind
    assert (error.ret, error.interface, error.endpoint) == (ret, interface, f"{interface}3")
    assert (error.meaning, error.advice, error.retry) == (told.meaning, told.advice, told.retry)
    quoted = "The service says: gone fishing."
    for said in ("get something", f"({interface}3)", str(ret), told.meaning, told.advice, quoted):
        assert said in str(error)
    assert "The service says" not in str(errors.api_error(ret, interface, "A3", "get room"))


def test_a_class_of_somebody_elses_takes_no_place_of_ours():
    """Though it has the same name."""
    theirs = type("RoomNotFound", (ck.ApiError,), {})
    assert theirs in ck.ApiError.__subclasses__()
    assert type(errors.api_error(404, "A", "A3", "get room")) is ck.RoomNotFound


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_arrives_whole(kind):
    """Copied or sent to another process, an error keeps its class, its text and its attributes; one
    that is raised again has a traceback of its own. That shows the class and the text alone."""
    with pytest.raises(kind) as raised:
        raise kind("the text", "ask", cause="why")
    error = raised.value
    device = ck.Device("1", "2", "Door", "rtsp://a:hunter2@h/x")
    vars(error).update(retry=not kind.retry, ret="E17", endpoint="B1", sent=False, device=device)
    protocols = range(2, pickle.HIGHEST_PROTOCOL + 1)
    pickled = [pickle.loads(pickle.dumps(error, number)) for number in protocols]
    for arrived in (copy.copy(error), copy.deepcopy(error), error.again(), *pickled):
        assert arrived is not error
        assert type(arrived) is kind
        assert str(arrived) == "the text: why. ask"
        assert arrived.args == error.args
        assert vars(arrived) == vars(error)
    assert error.again().__traceback__ is None
    lines = traceback.format_exception_only(kind("the text"))
    assert lines == [f"confkit.{kind.__module__.split('.')[1]}.{kind.__name__}: the text\n"]
