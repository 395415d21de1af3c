"""The proxy of the nightly attacks itself: it passes on, plays its faults, and repeats them."""

import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
import requests

import confkit as ck
from confkit.sandbox import Sandbox
from tests.nightly.chaos import BENIGN, BOMBS, FAULTS, INSTEAD, SLOW
from tests.nightly.proxy import Chaos

# With these an answer is whole all the same.
WHOLE = BENIGN | {
    "reset_after",
    "twice",
    "twice_large",
    "utf_16",
    "no_list",
    "duplicate_keys",
    "length_wrong",
}


def through(chaos: Chaos, sandbox: Sandbox, patience: float = 5.0) -> ck.Client:
    """A client that asks through the proxy, and waits little between its tries."""
    return ck.Client(
        chaos.base_url,
        chaos.outgoing_url,
        sandbox.access_key,
        sandbox.secret_key,
        dialect=sandbox.dialect,
        timeout=(5.0, patience),
        sleep=lambda _: None,
    )


def asked(asking: ck.Client, room_id: str) -> ck.Room | ck.ConfkitError:
    """The room, or the error in its place."""
    try:
        return ck.get_room(asking, room_id)
    except ck.ConfkitError as error:
        return error


@pytest.fixture(scope="module")
def known() -> Iterator[tuple[Sandbox, ck.Room]]:
    """A service for all faults, and a room of it."""
    with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=25)
        yield sandbox, ck.get_room(client, room_id)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_gives_the_truth_or_an_error_of_ours(name, known):
    """An answer that comes whole gives what is so, however it comes; of any other the read is an
    error with its cause, never another room."""
    sandbox, truth = known
    patience = 0.2 if name in SLOW | BOMBS else 5.0
    with (
        Chaos(sandbox.base_url, sandbox.outgoing_url, chance="a", weights={}, late=0.6) as passing,
        through(passing, sandbox, patience) as asking,
    ):
        asking.token()
        passing.plays({name: 1.0})
        outcome = asked(asking, truth.room_id)
        assert passing.counts[name]
        assert passing.strayed == []
    if name in WHOLE:
        assert outcome == truth
    else:
        assert isinstance(outcome, ck.ConfkitError)
        assert outcome.advice


def fates(sandbox: Sandbox, threads: int) -> dict[str, int]:
    weights = dict.fromkeys(sorted(set(FAULTS) - SLOW - BOMBS), 0.01)
    with Chaos(sandbox.base_url, sandbox.outgoing_url, chance="b", weights=weights) as chaos:

        def ask(numbers: Iterator[int]) -> None:
            for number in numbers:
                # A chunk of negative size is requests' own ValueError.
                with suppress(requests.RequestException, ValueError):
                    requests.get(f"{chaos.base_url}/rtc/room/get?room_id={number % 20}", timeout=5)

        asking = [
            threading.Thread(target=ask, args=(iter(range(at, 200, threads)),))
            for at in range(threads)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        return dict(chaos.counts)


def test_the_fate_of_a_request_does_not_depend_on_threads(sandbox):
    """The n-th time that a request is made the same becomes of it, whoever makes it."""
    assert fates(sandbox, 1) == fates(sandbox, 4)


def test_a_followed_redirect_is_a_leak(sandbox):
    """A client that follows to the other host with its token is noticed there."""
    weights = {"redirect": 1.0}
    with Chaos(sandbox.base_url, sandbox.outgoing_url, chance="a", weights=weights) as chaos:
        url = f"{chaos.base_url}/rtc/room/get?access_token=c2VjcmV0LXRva2Vu&room_id=1"
        requests.get(url, timeout=5)
        assert len(chaos.leaked) == 1


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - SLOW - BOMBS))
def test_a_page_of_the_service_itself_passes_whatever_the_fault(sandbox, fault):
    """Of an answer that is no JSON there is nothing to alter: it comes as it is, unless the fault
    is one that the service is not asked for."""
    sandbox.fault("/rtc/room/get", http=502, times=9)
    asked = "/rtc/room/get?room_id=1"
    with Chaos(
        sandbox.base_url, sandbox.outgoing_url, chance="a", weights={fault: 1.0}, late=0.1
    ) as chaos:
        came = whatever(f"{chaos.base_url}{asked}")
        assert chaos.counts == {fault: 1}
    assert (came == whatever(f"{sandbox.base_url}{asked}")) is (fault not in INSTEAD)


def whatever(url: str) -> object:
    """The status and the body, or the kind of error in their place."""
    try:
        answer = requests.get(url, timeout=5, allow_redirects=False)
    except requests.RequestException as error:
        return type(error)
    return answer.status_code, answer.content
