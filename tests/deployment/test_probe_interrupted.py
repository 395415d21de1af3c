"""Whatever happens meanwhile, the probe's room is gone afterwards, or it is said that it is not."""

import itertools

import pytest

import confkit as ck
from confkit.deployment import probe_client
from confkit.deployment.probe_room import OWNER, TOPIC
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.deployment.test_probe_dialects import state
from tests.scripted import AUTHENTICATE, Reply

A1, A2, A3, A4, A5, B1, B3 = (
    ENDPOINTS[key].path for key in ("A1", "A2", "A3", "A4", "A5", "B1", "B3")
)
FAULTS = {
    "dropped": {"drop": True},
    "lost": {"drop": True, "after": True},
    "page": {"body": "<html>Bad gateway</html>", "http": 502},
    "page after": {"body": "<html>Bad gateway</html>", "http": 200, "after": True},
    "error": {"ret": 700},
    "error after": {"ret": 504, "after": True},
    "hiccup": {"ret": 310},
    "redirect": {"http": 302, "body": ""},
    "empty": {"body": ""},
    "cut": {"body": '{"ret": 0, "da'},
    "array": {"body": "[]"},
    "no code": {"body": "{}"},
}


class Ticking:
    """A clock that raises KeyboardInterrupt at one of its readings: each call reads it twice,
    before it is sent and when its answer is there."""

    def __init__(self, last=None, again=()):
        self.readings, self.at = 0, {last, *again}

    def __call__(self):
        self.readings += 1
        if self.readings in self.at:
            raise KeyboardInterrupt
        return float(self.readings)


DIALECT = Dialect(signature="raw", create_method="POST", placement="json")


def test_ctrl_c_at_any_moment_leaves_nothing(playing, probe):
    """Before and after each call, Ctrl-C goes through, and rooms and devices are as before."""
    whole = Ticking()
    with playing(DIALECT) as sandbox:
        before = state(sandbox)
        calls = probe(sandbox, clock=whole).calls
        assert whole.readings >= 2 * calls
        for moment in range(1, whole.readings + 1):
            with pytest.raises(KeyboardInterrupt) as told:
                probe(sandbox, clock=Ticking(moment))
            assert state(sandbox) == before, moment
            assert all("no such room now" in note for note in getattr(told.value, "__notes__", ()))
        assert sandbox.count(A2) >= 6  # it was there in so many of these runs


def test_ctrl_c_pressed_again_and_again_while_it_removes(playing, probe):
    """Three more of them at any moment only make it try again; the room is gone."""
    whole = Ticking()
    with playing(DIALECT) as sandbox:
        before = state(sandbox)
        probe(sandbox, clock=whole)
        for moment in range(whole.readings - 12, whole.readings):
            clock = Ticking(moment, again=(moment + 1, moment + 2))
            with pytest.raises(KeyboardInterrupt):
                probe(sandbox, clock=clock)
            assert state(sandbox) == before, moment


ALWAYS = [(name, None) for name in FAULTS]
ONCE = [(name, 1) for name in ("dropped", "lost", "page after", "error after", "hiccup")]


@pytest.mark.parametrize(("name", "times"), ALWAYS + ONCE)
def test_no_fault_makes_it_guess_or_leave_a_room_unsaid(playing, probe, name, times):
    """However an operation fails, once or always: what is found out is right, the rest open,
    and a room that is still there is named in `left` with the line that deletes it."""
    with playing(DIALECT) as sandbox:
        before = state(sandbox)
        for path in (A2, A3, A4, A5, B1, B3):
            sandbox.fault(path, times=times, **FAULTS[name])
            counted = sandbox.count()
            found = probe(sandbox, timeout=0.5)
            sandbox.clear_faults()
            assert found.calls == sandbox.count() - counted <= 60, path
            told = {name: getattr(found.dialect, name) for name in found.told}
            assert told == {name: getattr(DIALECT, name) for name in told}, path
            after = state(sandbox)
            assert after[1] == before[1]
            stray = set(after[0]) - set(before[0])
            assert len(stray) == (
                1 if path == A4 and times is None and "after" not in FAULTS[name] else 0
            ), path
            with sandbox.connect() as client:
                for room_id in stray:
                    assert any(
                        f"ck.delete_room(client, {room_id!r})" in what for what in found.left
                    )
                    room = ck.get_room(client, room_id)
                    assert (room.topic, room.owner_id) == (TOPIC, OWNER)
                    assert found.exit_status == 2
                    ck.delete_room(client, room_id)


NEITHER = [(ck.ApiError, {"ret": ret}) for ret in (504, 405, 12345)] + [
    ((ck.ProtocolError, ck.TransportError), FAULTS[name])
    for name in sorted(set(FAULTS) - {"error", "error after", "hiccup"})
]


@pytest.mark.parametrize(("kind", "fault"), NEITHER)
def test_a_login_that_is_answered_by_something_else_is_an_error(playing, probe, kind, fault):
    """Neither yes nor no: the error says what came and what to do, after this one login. A timeout
    or a licence tells nothing of the signature either, and no other one is tried."""
    with playing(DIALECT) as sandbox:
        sandbox.fault(A1, **fault)
        with pytest.raises(kind) as told:
            probe(sandbox, max_failed_logins=8)
        assert sandbox.count() == 1
        assert told.value.advice


def test_a_token_that_ends_before_the_room_is_removed_is_made_anew(playing, probe):
    """The clock runs on at each call; a removal whose token is refused logs in once more."""
    with playing(DIALECT, token_lifetime=1000) as sandbox:
        before = state(sandbox)
        readings = itertools.count()

        def clock():
            if sandbox.count(A2) and sandbox.count(A4) == 0:
                sandbox.advance(600)
            return float(next(readings))

        found = probe(sandbox, clock=clock)
        assert sandbox.count(A2) == 1
        assert sandbox.count(A4) == 2
        assert found.left == ()
        assert state(sandbox) == before


def test_a_room_that_cannot_be_removed_after_ctrl_c_is_in_the_error(playing, probe):
    """Then no result can say it: the interrupt carries a note, with the line to delete it."""
    with playing(DIALECT) as sandbox:
        whole = Ticking()
        probe(sandbox, clock=whole)
        sandbox.fault(A4, ret=700)
        with pytest.raises(KeyboardInterrupt) as told:
            probe(sandbox, clock=Ticking(whole.readings - 3))
        note = told.value.__notes__[0]
        assert "ck.delete_room(client, " in note
        assert "700" in note


def test_an_address_at_which_nobody_listens_is_an_error(probe, sandbox, playing):
    """Of A: a TransportError. Of B: A is found out, B is open and left alone after two
    questions."""
    with playing() as other:
        closed = other.outgoing_url
    with pytest.raises(ck.TransportError, match="refused the connection"):
        ck.probe_dialect(closed, closed, "demo_access", "demo_secret")
    client = ck.Client(sandbox.base_url, closed, "demo_access", "demo_secret")
    found = probe_client(client)
    assert {"hash", "token_parameter"} <= set(found.told)
    assert not {"list_method", "create_method", "item_keys", "result_field"} & set(found.told)
    assert "no answer" in " ".join(found.open)
    assert sum(call.endpoint.startswith("B") for call in client.calls) == 2
    assert found.exit_status == 2


def test_a_slow_interface_is_left_alone_after_two_silences(script):
    """Each unanswered question costs the timeout, so two of them are enough."""
    answers = {
        A3: lambda query: {"ret": 404 if "access_token" in query else 602},
        A2: {"ret": 411},
        A4: {"ret": 404},
        A5: {"ret": 602},
        B3: Reply({"ret": 0}, delay=1),
        B1: Reply({"ret": 401}, delay=1),
    }
    service = script(answers)
    found = probe_client(service.client(timeout=(1, 0.1), sleep=lambda _: None))
    assert service.seen[B3] + service.seen[B1] == 2
    assert "gave no answer 2 times in a row" in " ".join(found.open)
    assert service.seen[AUTHENTICATE] == 1
