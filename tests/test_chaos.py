"""The proxy of the nightly attacks itself: it passes on, plays its faults, and repeats them."""

from collections.abc import Iterator

import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from tests.nightly.chaos import BENIGN, BOMBS, FAULTS, SLOW
from tests.nightly.piece import Piece
from tests.nightly.proxy import attacked

# With these an answer is whole all the same.
WHOLE = {*BENIGN, "reset_after", "twice", "twice_large", "utf_16", "no_list", "duplicate_keys"}
WHOLE |= {"length_wrong"}


@pytest.fixture(scope="module")
def known() -> Iterator[tuple[Sandbox, ck.Room]]:
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
