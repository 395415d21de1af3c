"""Errors: one base, the builtins that one expects, and all attributes kept on their way."""

import copy
import pickle
import traceback

import pytest

import confkit as ck
from confkit import errors
from confkit.endpoints import A2, wrong
from tests.codes import OTHERS, SPECIFIED

KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)
] + [ck.ReimportFailed]

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


@pytest.mark.parametrize(("kind", "builtin"), BUILTINS.items())
def test_an_error_is_the_builtin_that_one_expects(kind, builtin):
    """Each error can be caught as the builtin that says the same."""
    assert issubclass(kind, builtin)


def test_a_time_out_of_the_wire_is_a_transport_error():
    """A time-out is a failure of the connection, a code of the service is not."""
    assert issubclass(ck.TransportTimeout, ck.TransportError)
    assert not issubclass(ck.ServiceTimeout, ck.TransportError)
    assert not issubclass(ck.ProtocolError, ck.ApiError)
    assert not issubclass(ck.OutcomeUnknown, ck.ApiError)


@pytest.mark.parametrize(("where", "kind"), CLASSES.items())
def test_each_code_raises_the_class_that_fits_it(where, kind):
    """The class is that of the code in its own interface, with all that is known as attributes."""
    interface, ret = where
    error = errors.api_error(ret, interface, f"{interface}3", "get something", "gone fishing")
    told = ck.explain(ret, interface)
    assert type(error) is kind
    assert (error.ret, error.interface, error.endpoint) == (ret, interface, f"{interface}3")
    assert (error.meaning, error.advice, error.retry) == (told.meaning, told.advice, told.retry)
    for said in ("get something", f"({interface}3)", str(ret), told.meaning, told.advice):
        assert said in str(error)
    assert "The service says: gone fishing." in str(error)


def test_a_service_that_says_nothing_is_not_quoted():
    """Without a text of the service the message has none."""
    assert "says" not in str(errors.api_error(404, "A", "A3", "get room"))


def test_a_parameter_noticed_before_sending_says_so():
    """An argument that was never sent is a ParameterError without a code of the service."""
    error = wrong(A2, "topic is empty.", "Give one.")
    assert isinstance(error, ck.ParameterError)
    assert error.ret is None
    assert (error.endpoint, error.interface) == ("A2", "A")
    assert str(error) == "topic is empty. Nothing was sent. Give one."


def filled(kind):
    """An error of this class in which nothing is as usual."""
    error = kind("the text", "ask", cause="why")
    error.retry = not kind.retry
    if issubclass(kind, ck.ApiError):
        error.ret, error.interface, error.endpoint = "E17", "B", "B1"
        error.meaning = "odd"
    if issubclass(kind, ck.TransportError):
        error.sent = False
    if issubclass(kind, ck.ProtocolError):
        error.status = 502
    if kind is ck.ReimportFailed:
        error.device = ck.Device("1", "2", "Door", "rtsp://a:hunter2@h/x")
    return error


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "travel",
    [copy.copy, copy.deepcopy, lambda error: error.again()]
    + [
        lambda error, number=number: pickle.loads(pickle.dumps(error, number))
        for number in range(2, pickle.HIGHEST_PROTOCOL + 1)
    ],
)
def test_an_error_arrives_whole(kind, travel):
    """Copied or sent to another process, an error keeps its class, its text and its attributes."""
    error = filled(kind)
    assert isinstance(error, ck.ConfkitError)
    arrived = travel(error)
    assert arrived is not error
    assert type(arrived) is kind
    assert str(arrived) == "the text: why. ask"
    assert arrived.args == error.args
    assert vars(arrived) == vars(error)
    assert arrived.retry is not kind.retry


def test_an_error_that_is_raised_again_has_a_traceback_of_its_own():
    """An error that many threads raise does not collect their tracebacks."""
    try:
        raise filled(ck.AuthenticationFailed)
    except ck.AuthenticationFailed as caught:
        error = caught
    arrived = error.again()
    assert error.__traceback__ is not None
    assert arrived.__traceback__ is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_traceback_shows_the_text_alone(kind):
    """The last line of a traceback is the class and the text, also for the OSErrors among them."""
    lines = traceback.format_exception_only(kind("the text"))
    assert lines == [f"confkit.{kind.__module__.split('.')[1]}.{kind.__name__}: the text\n"]


def test_only_a_lost_connection_is_worth_another_try_by_nature():
    """`retry` is true from the start for transport errors only."""
    assert {kind for kind in KINDS if kind.retry} == {ck.TransportError, ck.TransportTimeout}
