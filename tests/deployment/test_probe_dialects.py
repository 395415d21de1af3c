"""The probe finds every dialect of the sandbox, within its bounds, and leaves nothing behind."""

import random
from itertools import pairwise

import pytest

import confkit as ck
from confkit.deployment import probe_client
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.deployment.deployments import SIGNATURES, combined, single, tellable

A1, A2, B1, B2 = (ENDPOINTS[key].path for key in ("A1", "A2", "B1", "B2"))


def state(sandbox):
    """The rooms and the devices that the service holds."""
    with sandbox.connect() as client:
        devices = ck.list_devices(client)
    return sorted(sandbox.room_ids()), [(device.room_id, device.user_id) for device in devices]


def failed_logins(sandbox):
    """How many logins the sandbox has refused."""
    return sum(text.startswith("A1 401") for text in sandbox.refusals)


def as_told(found, dialect):
    """Whether what was told is so in this dialect."""
    return {getattr(found.dialect, name) == getattr(dialect, name) for name in found.told} <= {True}


DRAWN = [*combined(6, seed=6), *combined(4, seed=100)]
GUESSED = [(one, Dialect()) for one in single()] + [*pairwise(DRAWN)]


@pytest.mark.parametrize(("dialect", "guess"), GUESSED, ids=str)
def test_every_dialect_is_found_and_nothing_is_left(playing, dialect, guess):
    """Whatever the deployment does and was first taken for, the result is its dialect, each setting
    shown by an exchange, within 60 calls; rooms and devices are as before. A request to B1 holds a
    token at most, so that nothing is imported, and B2 is asked to remove nobody whom the service
    may know, from the probe's own room or from none. The right guess costs no failed login."""
    with playing(dialect) as sandbox, sandbox.connect(sleep=lambda _: None) as client:
        before, counted = state(sandbox), sandbox.count()
        client.dialect = guess
        found = probe_client(client, max_failed_logins=8)
        assert found.calls == sandbox.count() - counted <= 60
        assert found.failed_logins == failed_logins(sandbox) <= 7
        assert found.dialect == tellable(dialect, guess)
        assert (found.open, found.left, found.exit_status) == ((), (), 0)
        assert all(row.exchange for row in found.evidence)
        assert sandbox.count(A2) == 1 + len(before[0])
        assert state(sandbox) == before
        asked = [set(call.fields) for call in client.calls if call.endpoint == "B1"]
        assert asked == [{"accessToken"} & each for each in asked] != []
        client.dialect = found.dialect
        again = probe_client(client, max_failed_logins=1, own_room=False)
        assert (again.dialect, again.failed_logins) == (found.dialect, 0)
        made = {call.fields.get("room_extend_id") for call in client.calls}
        sent = [call.fields for call in client.calls if call.endpoint == "B2"]
        assert [fields["roomId"] in made for fields in (sent[0], sent[-1])] == [True, False]
        assert {fields["userAddress"] for fields in sent} == {"rtsp://192.0.2.1:554/nobody"}
        assert not {fields["userId"] for fields in sent} & {user for _, user in before[1]}
        assert not {fields["roomId"] for fields in sent} & set(before[0])


@pytest.mark.parametrize(("name", "form"), [SIGNATURES[0], SIGNATURES[3], SIGNATURES[-1]])
def test_never_more_logins_fail_than_the_bound_allows(probe, name, form):
    """The sandbox counts them; what the bound left open is named, and nothing is guessed."""
    wanted = SIGNATURES.index((name, form))
    with ck.sandbox.Sandbox(seed=1, dialect=Dialect(hash=name, signature=form)) as sandbox:
        for bound in (0, 1, 2, 5, 8):
            refused, counted = failed_logins(sandbox), sandbox.count(A1)
            found = probe(sandbox, max_failed_logins=bound)
            assert failed_logins(sandbox) - refused == found.failed_logins == min(wanted, bound)
            assert sandbox.count(A1) - counted == min(wanted + 1, bound)
            if wanted < bound:
                assert (found.dialect.hash, found.dialect.signature) == (name, form)
                continue
            assert (found.dialect, found.told, found.exit_status) == (Dialect(), (), 2)
            assert f"as {bound} failed logins are the bound" in found.open[0]
            untried = found.open[0].partition("not tried")[2]
            shown = "hex text" if form == "hex" else "raw bytes"
            assert f"the {shown} of HMAC-{name.upper()}" in untried


@pytest.mark.parametrize("change", ["licence", "no_room", "read_only"])
def test_a_room_that_may_not_be_created_is_open(playing, change):
    """A licence that has expired, own_room=False and a read-only client: the rest is reported."""
    with playing(Dialect(create_method="POST", placement="json")) as sandbox:
        before = state(sandbox)
        sandbox.licence(expired=change == "licence")
        with sandbox.connect(read_only=change == "read_only", sleep=lambda _: None) as client:
            client.dialect = Dialect()
            found = probe_client(client, own_room=change != "no_room")
        unasked = {why.partition(":")[0] for why in found.open}
        assert {"a room of its own", "numbers in A3"} <= unasked
        assert (found.exit_status, found.left, state(sandbox)) == (2, (), before)
        assert sandbox.count(A2) == (change == "licence") + len(before[0])
        if change != "read_only":
            assert found.dialect == sandbox.dialect
            return
        assert {"B1 by GET or POST", "spelling of the token in B2"} <= unasked
        assert "read only" in " ".join(found.open)
        assert (sandbox.count(B1), sandbox.count(B2)) == (len(before[1]), 0)


@pytest.mark.parametrize("lifetime", [40, 900, 10_000])
def test_the_lifetime_of_a_token_is_told_where_it_was_waited_for(playing, probe, lifetime):
    """It lies between the last age that worked and the first that did not; else it is open."""
    with playing(token_lifetime=lifetime) as sandbox:
        found = probe(sandbox, wait=1000, clock=sandbox.now, sleep=sandbox.advance)
        row = found.evidence[-1]
        assert row.question == "lifetime of the token"
        assert found.calls <= 60
        if lifetime > 1000:
            assert (row.sure, row.answer) == ("open", "longer than 1000 s, as far as was waited")
            return
        low, high = (int(word) for word in row.answer.split() if word.isdecimal())
        assert low < lifetime <= high
        assert high - low <= 51


def test_few_calls_leave_the_rest_open_and_no_room(playing, probe):
    """At its bound the probe stops, says of each question that it was not asked, and has kept
    back the calls that remove its room."""
    chance = random.Random(4)
    for dialect in combined(6, seed=11):
        with playing(dialect) as sandbox:
            before, counted = state(sandbox), sandbox.count()
            most = chance.randrange(20, 30)
            found = probe(sandbox, max_failed_logins=8, max_calls=most)
            assert found.calls == sandbox.count() - counted <= most
            assert "max_calls" in " ".join(found.open)
            assert as_told(found, dialect)
            assert state(sandbox) == before


@pytest.mark.parametrize(
    "wrong", [{"max_failed_logins": -1}, {"max_calls": 3}, {"wait": 0}], ids=str
)
def test_an_argument_that_makes_no_sense_is_told_before_anything_is_sent(probe, sandbox, wrong):
    """A ConfigError names the argument, and the service saw nothing."""
    [(name, value)] = wrong.items()
    with pytest.raises(ck.ConfigError, match=f"{name} is {value}"):
        probe(sandbox, **wrong)
    assert sandbox.count() == 0


def test_white_space_around_keys_is_removed_and_told(probe, sandbox):
    """As with `connect`, a warning names the key and not its value."""
    with pytest.warns(UserWarning, match="white space around secret_key was removed"):
        found = probe(sandbox, secret_key=f" {sandbox.secret_key}\n")
    assert found.failed_logins == 0
