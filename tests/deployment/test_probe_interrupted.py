"""Whatever happens meanwhile, the probe's room is gone afterwards, or it is said that it is not."""

import signal

import pytest

import confkit as ck
from confkit.deployment import probe_client
from confkit.deployment.probe import OWNER, TOPIC
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.deployment.test_probe_dialects import as_told, state

A1, A2, A3, A4, A5, B1, B3 = (
    ENDPOINTS[key].path for key in ("A1", "A2", "A3", "A4", "A5", "B1", "B3")
)
DIALECT = Dialect(signature="raw", create_method="POST", placement="json")
# What happens to an operation, always or once.
FAULTS = {
    "dropped": {"drop": True},
    "lost": {"drop": True, "after": True},
    "page": {"body": "<html>Bad gateway</html>", "http": 502},
    "page after": {"body": "<html>Bad gateway</html>", "http": 200, "after": True},
    "error": {"ret": 700},
    "error after": {"ret": 504, "after": True},
    "hiccup": {"ret": 310},
    "no code": {"body": "{}"},
}
ALWAYS = [(name, None) for name in FAULTS]
ONCE = [
    pytest.param(name, 1, marks=pytest.mark.nightly)
    for name in ("dropped", "lost", "page after", "error after", "hiccup")
]


class Ticking:
    """A clock that raises KeyboardInterrupt at some of its readings: each call reads it twice,
    before it is sent and when its answer is there."""

    def __init__(self, *at):
        self.readings, self.at = 0, at

    def __call__(self):
        self.readings += 1
        if self.readings in self.at:
            signal.raise_signal(signal.SIGINT)
        return float(self.readings)


def test_ctrl_c_at_any_moment_leaves_nothing(playing, probe):
    """Before and after each call, Ctrl-C goes through, and rooms and devices are as before; more of
    them while it removes its room only make it try again. A room that cannot be removed is in the
    error's notes, with the line to delete it, as no result can say it."""
    whole = Ticking()
    with playing(DIALECT) as sandbox:
        before = state(sandbox)
        calls = probe(sandbox, clock=whole).calls
        assert whole.readings >= 2 * calls
        clocks = [Ticking(moment) for moment in range(1, whole.readings + 1)]
        late = range(whole.readings - 12, whole.readings)
        clocks += [Ticking(moment, moment + 1, moment + 2) for moment in late]
        for clock in clocks:
            with pytest.raises(KeyboardInterrupt) as told:
                probe(sandbox, clock=clock)
            assert state(sandbox) == before, clock.at
            if len(clock.at) == 1:
                notes = getattr(told.value, "__notes__", ())
                assert all("no such room now" in note for note in notes)
        assert sandbox.count(A2) >= 6  # it was there in so many of these runs
        sandbox.fault(A4, ret=700)
        with pytest.raises(KeyboardInterrupt) as told:
            probe(sandbox, clock=Ticking(whole.readings - 3))
        [note] = told.value.__notes__
        assert ("ck.delete_room(client, " in note, "700" in note) == (True, True)


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
            assert as_told(found, DIALECT), path
            after = state(sandbox)
            assert after[1] == before[1]
            stray = set(after[0]) - set(before[0])
            stays = path == A4 and times is None and "after" not in FAULTS[name]
            assert len(stray) == stays, path
            with sandbox.connect() as client:
                for room_id in stray:
                    assert f"ck.delete_room(client, {room_id!r})" in " ".join(found.left)
                    room = ck.get_room(client, room_id)
                    assert (room.topic, room.owner_id) == (TOPIC, OWNER)
                    assert found.exit_status == 2
                    ck.delete_room(client, room_id)


NEITHER = [(ck.ApiError, {"ret": 504}), (ck.ApiError, {"ret": 12345})]
NEITHER += [(ck.ConfkitError, FAULTS[name]) for name in ("dropped", "page", "no code")]
NEITHER.append((ck.ProtocolError, {"body": '{"ret": 0}'}))  # without random and key


@pytest.mark.parametrize(("kind", "fault"), NEITHER)
def test_a_login_that_is_answered_by_something_else_is_an_error(playing, probe, kind, fault):
    """Neither yes nor no: the error says what came and what to do, after this one login. A timeout
    or a licence tells nothing of the signature either, and no other one is tried."""
    with playing(DIALECT) as sandbox:
        counted = sandbox.count()
        sandbox.fault(A1, **fault)
        with pytest.raises(kind) as told:
            probe(sandbox, max_failed_logins=8)
        assert (sandbox.count() - counted, bool(told.value.advice)) == (1, True)


def test_an_address_at_which_nobody_listens_is_an_error(sandbox, playing):
    """Of A: a TransportError. Of B: A is found out, B is open and left alone after two
    silences in a row."""
    with playing() as gone:
        closed = gone.outgoing_url
    with pytest.raises(ck.TransportError, match="refused the connection"):
        ck.probe_dialect(closed, closed, "demo_access", "demo_secret")
    client = ck.Client(sandbox.base_url, closed, "demo_access", "demo_secret")
    found = probe_client(client)
    assert {"hash", "token_parameter"} <= set(found.told)
    assert not {"list_method", "create_method", "item_keys", "result_field"} & set(found.told)
    assert "gave no answer 2 times in a row" in " ".join(found.open)
    assert sum(call.endpoint.startswith("B") for call in client.calls) == 2
    assert found.exit_status == 2
