"""`probe_dialect`: asks a service what the interface leaves open, within bounds."""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import signing
from ..client import Client
from ..errors import ConfigError
from ..masking import Secret, hidden_address
from ..transport import finite
from . import calling, formats, interface_a, interface_b
from .answers import told as told_of
from .evidence import Findings, Probe
from .lifetime import token_lifetime
from .line import Line
from .logins import Login, Logins, Tried, signatures
from .own_room import created_room

if TYPE_CHECKING:
    from ..dialect import Dialect

CALLS = 60


def probe_dialect(
    base_url: str,
    outgoing_url: str,
    access_key: str,
    secret_key: str,
    *,
    dialect: Dialect | None = None,
    max_failed_logins: int = 2,
    wait: float | None = None,
    max_calls: int = CALLS,
    timeout: float | tuple[float, float] = (5.0, 10.0),
    verify: bool | str = True,
    own_room: bool = True,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Probe:
    """What a service does where the interface is silent, found out by asking it.

    `dialect` is the first guess. At most `max_calls` requests are sent, none of them twice by
    itself, and at most `max_failed_logins` logins fail; what these bounds leave open is in `open`.
    Requests with a wrong token, or without one, are sent on purpose: that they are no failed logins
    is assumed. Nothing is imported; one room of its own is created and deleted again (none with
    `own_room` False), also after Ctrl-C, and B2 is asked to take out a user who is not there.
    `wait` is how many seconds to wait for a token to end; its
    lifetime is not asked for without it. `timeout` and `verify` are as for `connect`; `new_id`
    gives the IDs of rooms that are not there, and of its own.

    ConfigError: an argument makes no sense. TransportError, ProtocolError, ApiError: the service
    cannot be reached, or it answers a login with neither yes nor no. An error or a Ctrl-C carries a
    note (`__notes__`) where the room could not be deleted.
    Sections 4, 5 and 7 of the interface.
    """
    secret_key = Secret(secret_key)
    base_url, outgoing_url = hidden_address(base_url), hidden_address(outgoing_url)
    keys = {"access_key": access_key, "secret_key": secret_key}
    for name, key in keys.items():
        if key != key.strip():
            warnings.warn(f"white space around {name} was removed", stacklevel=2)
    client = Client(
        base_url, outgoing_url, access_key.strip(), Secret(secret_key.strip()), dialect=dialect,
        timeout=timeout, verify=verify, clock=clock, sleep=sleep,
    )  # fmt: skip
    with client:
        return probe_client(
            client, max_failed_logins=max_failed_logins, wait=wait, max_calls=max_calls,
            own_room=own_room, clock=clock, sleep=sleep, new_id=new_id,
        )  # fmt: skip


def probe_client(
    client: Client,
    *,
    max_failed_logins: int = 2,
    wait: float | None = None,
    max_calls: int = CALLS,
    own_room: bool = True,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Probe:
    """As `probe_dialect`, of a client's service and with its dialect as the first guess; where the
    client is read only, nothing is created, and B1 and B2 are left alone."""
    if wait is not None and not finite(wait):
        raise ConfigError(f"wait is {wait!r}", "Give seconds, above 0 and finite.")
    findings = Findings(client.dialect)
    line = Line(client, findings, max_calls)
    logins = Logins(line, max_failed_logins)
    left: list[str] = []
    login = _log_in(line, logins, findings)
    if login:
        token = _Token(logins, login)
        born = clock()
        readable = _reads(line, findings, token, new_id)
        left = _rooms(line, findings, token, new_id, sleep, own_room and readable)
        formats.result_codes(line, findings)
        if wait is not None:
            token_lifetime(line, findings, token(), born, wait, new_id(), clock, sleep)
    return Probe(
        dialect=findings.dialect, evidence=tuple(findings.rows), told=tuple(findings.told),
        calls=line.calls, failed_logins=logins.failed, left=tuple(left),
        base_url=client.base_url, outgoing_url=client.outgoing_url,
    )  # fmt: skip


class _Token:
    """The token of a login that worked; called with it when it is refused, another one."""

    def __init__(self, logins: Logins, login: Login) -> None:
        self._logins, self._login = logins, login

    def __call__(self, refused: Secret | None = None) -> Secret:
        if self._login.token is refused:
            again = self._logins.login(self._login.candidate)
            if again.error:
                raise again.error
            self._login = again
        return self._login.token or Secret("")


def _log_in(line: Line, logins: Logins, findings: Findings) -> Login | None:
    """The login that worked; None where the bound left it open. Raises where the service answers a
    login with neither yes nor no: nothing can be found out then."""
    question = "signature of digest and token"
    client = line.client
    tried = logins.first(signatures(client.access_key, client.secret_key, client.dialect))
    login = tried.accepted
    if login:
        chosen = login.candidate.dialect
        findings.seen(
            question, login.candidate.what, login.call,
            hash=chosen.hash, signature=chosen.signature,
        )  # fmt: skip
        return login
    last = tried.logins[-1] if tried.logins else None
    if last and last.came == "unclear" and last.error:
        raise last.error
    findings.open(question, _unaccepted(tried, logins.bound), last.call if last else None)
    findings.open("everything else", "not asked: that needs a token, and no login was accepted")
    return None


def _unaccepted(tried: Tried, bound: int) -> str:
    refused = "; ".join(login.candidate.what for login in tried.logins)
    said = f"refused: {refused}. " if refused else "no login was tried. "
    if not tried.open:
        return f"{said}All that there are: access key or secret key are wrong, or the rule is new."
    waiting = "; ".join(candidate.what for candidate in tried.open)
    return (
        f"{said}Not tried, as max_failed_logins is {bound}: {waiting}. Ask the provider for the "
        f"rule, or whether accounts lock; {len(tried.logins) + len(tried.open)} try them all."
    )


def _reads(line: Line, findings: Findings, token: _Token, new_id: Callable[[], str]) -> bool:
    """Asks all that changes nothing on the service; whether A3 reads the token."""
    nowhere = new_id()
    bad = signing.sign(new_id(), "confkit probe", findings.dialect)  # of a token's form, and none
    readable = interface_a.token_spelling(line, findings, token(), nowhere)
    if readable:
        interface_a.bad_token(line, findings, bad, nowhere)
        interface_a.jsonp(line, findings, token(), nowhere)
    if calling.list_calls(line, findings, token(), nowhere):
        interface_b.bad_token(line, findings, bad, nowhere)
        interface_b.listing(line, findings, token())
    else:
        findings.open("keys of B3's items", "not asked: it is not known how B3 is called")
    calling.create_calls(line, findings, token())
    calling.placement_unused(findings)
    return readable


def _rooms(
    line: Line,
    findings: Findings,
    token: _Token,
    new_id: Callable[[], str],
    sleep: Callable[[float], object],
    create: bool,
) -> list[str]:
    """Asks what needs a room of its own, and the media server; gives what is left of that room."""
    told = interface_a.mcu_spelling(line, findings, token(), new_id(), last=not create)
    question, there = "a room of its own", False
    left: list[str] = []
    if not create:
        findings.open(question, "not created, so A2 and A4 were not asked")
        interface_b.remove_spelling(line, findings, token(), new_id(), new_id())
        return left
    with (
        findings.asking(question),
        created_room(line, findings.dialect, new_id(), token, sleep) as room,
    ):
        left, there = room.left, room.there
        if room.there and room.asked:
            own = "its room_id is" if room.room_id == room.extend_id else "its room_id is not"
            findings.seen(question, f"created; {own} its room_extend_id", room.asked)
            formats.room_numbers(line, findings, token(), room.room_id)
            told = told or interface_a.mcu_spelling(line, findings, token(), room.room_id, True)
            interface_b.remove_spelling(line, findings, token(), room.room_id, new_id())
        elif room.asked:
            findings.open(question, told_of(room.asked), room.asked)
    if not there:
        interface_b.remove_spelling(line, findings, token(), new_id(), new_id())
    if not told:
        why = "an unknown room does not show it, and there was none of its own"
        findings.open("spelling of the token in A5", why)
    return left
