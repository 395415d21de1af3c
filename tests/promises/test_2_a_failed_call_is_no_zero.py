"""A failed call is a failure, never a zero, whatever goes wrong: the faults of the nightly attacks
one by one, rooms of a sweep, and lists."""

import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from tests.building import building
from tests.nightly.chaos import BENIGN, BOMBS, FAULTS, SLOW
from tests.nightly.piece import Piece
from tests.nightly.proxy import attacked
from tests.scripted import A6, B3, Reply
from tests.test_sweep import rows

# With these an answer is whole all the same.
WHOLE = {*BENIGN, "reset_after", "twice", "twice_large", "utf_16", "no_list", "duplicate_keys"}
WHOLE |= {"length_wrong"}


@pytest.fixture(scope="module")
def known():
    """A service for all faults, and a room of it."""
    with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=25)
        yield sandbox, ck.get_room(client, room_id)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_gives_the_truth_or_an_error_of_ours(name, known, tmp_path):
    """An answer that comes whole gives what is so; of any other the read is an error."""
    sandbox, truth = known
    patience = 0.2 if name in SLOW | BOMBS else 5.0
    piece = Piece("chaos", 7, 0, 1, tmp_path)
    with attacked(piece, sandbox, {}, late=0.6, timeout=(patience, patience)) as (chaos, asking):
        asking.token()
        chaos.plays({name: 1.0})
        try:
            outcome = ck.get_room(asking, truth.room_id)
        except ck.ConfkitError as error:
            outcome = error
        assert chaos.counts[name]
        assert chaos.strayed == []
    if name in WHOLE:
        assert outcome == truth
    else:
        assert isinstance(outcome, ck.ConfkitError)
        assert outcome.advice


def test_a_failed_room_is_missing_and_never_empty(script):
    """A room whose users alone failed keeps its fields; A6 is not sent where A3 failed."""
    fields = {"code": {"ret": 700}, "dropped": Reply(drop=True)}
    people = {"users": {"ret": 700}, "no list": {"ret": 0, "user_list": None}}
    present = dict.fromkeys([*fields, *people, "fine"], ("x", "y"))
    service = script(building(present, rooms=fields, people=people))
    sweep = ck.sweep(service.client(), [*present, "nowhere"])
    columns = ("room_id", "topic", "attendee_max", "users", "people", "devices", "ret")
    assert rows(sweep.frame(), *columns) == [
        ("code", None, None, None, None, None, 700),
        ("dropped", None, None, None, None, None, None),
        ("users", "Topic of users", 10, None, None, None, 700),
        ("no list", "Topic of no list", 10, None, None, None, None),
        ("fine", "Topic of fine", 10, 2, 2, 0, 0),
        ("nowhere", None, None, None, None, None, 404),
    ]
    errors = [(failure.room_id, str(failure.error)) for failure in sweep.failures]
    assert rows(sweep.frame().dropna(subset="error"), "room_id", "error") == errors
    assert (list(sweep.users), sweep.complete, service.seen[A6]) == (["fine"], True, 3)


def test_a_failed_list_is_never_an_empty_list(script):
    """Nor one with fewer items than its `total`."""
    service = script()
    for call, path, members in (
        (ck.get_room_users, A6, {"user_list": None}),
        (ck.list_devices, B3, {"data": {"items": None}}),
        (ck.list_devices, B3, {"data": {"items": [], "total": 3}}),
    ):
        service.script[path] = {"ret": 0, **members}
        with pytest.raises(ck.ProtocolError) as raised:
            call(service.client(), "1")
        assert raised.value.advice
