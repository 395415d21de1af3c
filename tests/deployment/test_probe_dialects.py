"""The probe finds every dialect of the sandbox, within its bounds, and leaves nothing behind."""

import random
from dataclasses import replace

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


@pytest.mark.parametrize("dialect", [*single(), *combined(12, seed=6)], ids=str)
def test_every_dialect_is_found_and_nothing_is_left(playing, probe, dialect):
    """Whatever the deployment does, the result is its dialect, each setting shown by an exchange,
    within 60 calls; rooms and devices are as before, and no import was asked for."""
    for last in (False, True):
        with playing(dialect) as sandbox:
            before, counted = state(sandbox), sandbox.count()
            found = probe(sandbox, max_failed_logins=8)
            came = sandbox.count() - counted
            if came != found.calls and not last:
                continue  # a caller of another test's, whose port this one has now; not twice
            assert found.calls == came <= 60
            assert found.failed_logins == failed_logins(sandbox) <= 7
            assert found.dialect == tellable(dialect)
            assert (found.open, found.left, found.exit_status) == ((), (), 0)
            assert all(row.exchange for row in found.evidence)
            assert sandbox.count(A2) == 1
            assert state(sandbox) == before
            break


@pytest.mark.parametrize("seed", range(8))
def test_a_first_guess_is_tried_first_and_never_believed(playing, probe, seed):
    """A wrong guess ends in the same dialect; the right one costs no failed login."""
    guess, dialect = combined(2, seed=100 + seed)
    with playing(dialect) as sandbox:
        found = probe(sandbox, dialect=guess, max_failed_logins=8)
        # Where nothing is a POST, nothing shows where one would carry its parameters.
        used = "POST" in (dialect.create_method, dialect.list_method)
        placement = dialect.placement if used else guess.placement
        assert found.dialect == replace(dialect, placement=placement)
        before = failed_logins(sandbox)
        found = probe(sandbox, dialect=dialect, max_failed_logins=1)
        assert (found.dialect, found.failed_logins, found.open) == (dialect, 0, ())
        assert failed_logins(sandbox) == before


@pytest.mark.parametrize(("name", "form"), SIGNATURES)
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


def test_a_wrong_secret_is_told_as_refused_by_all_signatures(probe, sandbox):
    """With room for all eight it says that the keys are wrong, and shows the last refusal."""
    found = probe(sandbox, secret_key="wrong", max_failed_logins=9)
    assert failed_logins(sandbox) == found.calls == found.failed_logins == 8
    assert "most likely a key is wrong" in found.open[0]
    assert found.evidence[0].exchange.ret == 401
    assert found.exit_status == 2


def test_an_empty_service_leaves_the_keys_of_its_items_open(probe, sandbox):
    """Without a device nothing shows them: that is said, and the default is kept."""
    found = probe(sandbox)
    assert found.open == ("keys of B3's items: no device is listed, so nothing shows them",)
    assert found.dialect == Dialect()
    assert "item_keys" not in found.told
    assert found.exit_status == 2


def test_what_the_service_shows_beside_the_dialect_is_evidence(playing, probe):
    """Unknown rooms, bad tokens, JSONP and quoted numbers stand there with their exchanges; nothing
    waits for a token to end, as that was not asked for."""
    with playing() as sandbox:
        rows = probe(sandbox, sleep=lambda _: pytest.fail("it waits")).evidence
    found = {row.question: row for row in rows}
    assert "lifetime of the token" not in found
    assert found["an unknown room in A3"].answer == "404 (room not found), HTTP 200"
    assert found["an unknown room in B3"].answer == "0 (success), HTTP 200"
    assert found["a bad token in A3"].answer == "602 (access_token incorrect), HTTP 200"
    assert found["a bad token in B3"].exchange.ret == 602
    assert found["JSONP (callback)"].answer.startswith("honoured")
    assert found["numbers in A3"].answer == (
        "quoted: attendee_max; as numbers: id, room_status, room_mode"
    )
    assert found["total in B3"].answer == "as a number"
    assert found["a room of its own"].answer == "created; its room_id is its room_extend_id"
    assert found["B1 by GET or POST"].exchange.ret == 401


def test_b1_is_never_sent_anything_that_could_be_imported(playing, probe):
    """Its requests hold a token and nothing else, in every way in which B1 is called."""
    sent = []
    for dialect in combined(6, seed=9):
        with playing(dialect) as sandbox:
            client = sandbox.connect(sleep=lambda _: None)
            client.dialect = Dialect(hash=dialect.hash, signature=dialect.signature)
            probe_client(client)
            sent += [call.fields for call in client.calls if call.endpoint == "B1"]
            assert sandbox.count(B1) >= 1
    assert {name for fields in sent for name in fields} == {"accessToken"}


def test_b2_is_asked_for_nobody_in_the_probes_own_room(playing):
    """Where no room is created, in one that is not there; never for a user or an address that the
    service may know. What counts is the difference to the answer without a token."""
    with playing(Dialect(remove_token_parameter="accessToken")) as sandbox:
        known = {user for _, user in state(sandbox)[1]} | set(sandbox.room_ids())
        for own_room, room_is_there in ((True, True), (False, False)):
            client = sandbox.connect(sleep=lambda _: None)
            client.dialect = Dialect()
            found = probe_client(client, own_room=own_room)
            [row] = [row for row in found.evidence if row.question == "spelling of the token in B2"]
            assert (row.sure, row.answer, row.exchange.ret) == ("seen", "accessToken", 425)
            made = {call.fields.get("room_extend_id") for call in client.calls} - {None}
            sent = [call.fields for call in client.calls if call.endpoint == "B2"]
            assert {fields["roomId"] in made for fields in sent} == {room_is_there}
            assert not known & {value for fields in sent for value in fields.values()}
            assert {fields["userAddress"] for fields in sent} == {"rtsp://192.0.2.1:554/nobody"}
            assert found.left == ()


@pytest.mark.parametrize("change", ["licence", "no_room", "read_only"])
def test_a_room_that_may_not_be_created_is_open(playing, probe, change):
    """A licence that has expired, own_room=False and a read-only client: the rest is reported."""
    with playing(Dialect(create_method="POST", placement="json")) as sandbox:
        before = state(sandbox)
        if change == "licence":
            sandbox.licence(expired=True)
        if change == "read_only":
            with sandbox.connect(read_only=True) as client:
                client.dialect = Dialect()
                found = probe_client(client)
            assert "B1 by GET or POST: not asked: " in " ".join(found.open)
            assert "read only" in " ".join(found.open)
            assert "spelling of the token in B2: not asked: " in " ".join(found.open)
            assert sandbox.count(B1) == sandbox.count(A2) == sandbox.count(B2) == 0
        else:
            found = probe(sandbox, own_room=change != "no_room")
            assert found.dialect == sandbox.dialect
        assert any(why.startswith("a room of its own: ") for why in found.open)
        assert (found.exit_status, found.left) == (2, ())
        assert sandbox.count(A2) == (1 if change == "licence" else 0)
        assert state(sandbox) == before


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
            told = {name: getattr(found.dialect, name) for name in found.told}
            assert told == {name: getattr(dialect, name) for name in told}
            assert state(sandbox) == before


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_failed_logins": -1}, "max_failed_logins is -1"),
        ({"max_failed_logins": 1.5}, "max_failed_logins is 1.5"),
        ({"max_calls": 3}, "max_calls is 3"),
        ({"wait": 0}, "wait is 0"),
        ({"wait": float("inf")}, "wait is inf"),
        ({"timeout": -1}, "timeout is -1"),
    ],
)
def test_an_argument_that_makes_no_sense_is_told_before_anything_is_sent(
    probe, sandbox, options, says
):
    """A ConfigError names the argument, and the service saw nothing."""
    with pytest.raises(ck.ConfigError, match=says):
        probe(sandbox, **options)
    assert sandbox.count() == 0


def test_white_space_around_keys_is_removed_and_told(probe, sandbox):
    """As with `connect`, a warning names the key and not its value."""
    with pytest.warns(UserWarning, match="white space around secret_key was removed"):
        found = probe(sandbox, secret_key=f" {sandbox.secret_key}\n")
    assert found.failed_logins == 0
