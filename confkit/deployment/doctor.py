"""`doctor`: the checks in their order, each made only when those before it allow that: settings,
the way to both interfaces, clocks, keys, token, a room, its media server. What they say stands in
`doctor_says.toml`."""

from __future__ import annotations

import re
import ssl
import time
import tomllib
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from requests.utils import select_proxy

from ..checklist import Check, Checklist, Verdict
from ..client import on_loopback
from ..devices import devices_of
from ..endpoints import A3, A5, B2, B3, ENDPOINTS, Endpoint, Interface, identity
from ..errors import ApiError, ConfigError, ConfkitError, TransportError, TransportTimeout
from ..records import Room, needed
from ..secret import mask
from ..transport import finite
from ..wire import Request
from .media_server import mcu_answers
from .questions import NOT_SUPPORTED, REFUSED, TAKES_TOKEN, UNKNOWN_ROOM, Found, Inquiry, signed

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..client import Client

SECONDS = 60.0  # for all checks together
NO_ROOM = "999999999999999"  # a number that no room should have
MOST_SKEW = 5.0  # seconds that do no harm; the Date header has whole ones
MCU_SECONDS = 2.0
SAYS = tomllib.loads(Path(__file__).with_name("doctor_says.toml").read_text("utf-8"))
SETTINGS: dict[Interface, str] = {"A": "base_url", "B": "outgoing_url"}
_STAGES = ("name of", "TCP to", "TLS of", "HTTP of")
_SOON = 14  # days
_NOT_SERVED = (None, NOT_SUPPORTED)
_NO_TOKEN = (602, 407, 401)  # what services say to a call without a token
_USUAL_KEY = re.compile(r"[!#-&(-_a-~]+")  # of printable ASCII, without spaces and quotes
_ADDRESS = re.compile(r"[0-9.]+|.*:.*")  # IPv4, IPv6
_CLOSED = 3  # room_status, as seen in deployments


def doctor(
    client: Client,
    room_id: str | None = None,
    *,
    max_failed_logins: int = 2,
    timeout: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Checklist:
    """Find out what is wrong between this machine and the service: one check a line, with cause and
    advice.

    The checks are those of `CHECKS`, always all and in that order: the settings; name, TCP, TLS
    and HTTP of both interfaces; the clocks; the keys (A1); the token in A (A3), in B (B3) and in
    B2; one room (A3), the given one or one that is known of; its media server (A5) and whether that
    accepts connections. What was not made says SKIP or UNKNOWN and why, never PASS. Where a setting
    of the dialect is wrong and the right one is found, that is a FAIL that names it, and the checks
    after it go on with the right one.

    Nothing is changed, and each request is sent once, by a copy of the client. B2 alone is no read:
    it is asked to remove a user who is not there, from a room that is not there (`new_id` gives
    their IDs); on a client that is read only it is not sent, and UNKNOWN. Of the logins no more
    fail than `max_failed_logins`; a refusal is looked into with other signatures within that bound.
    A token that the client holds is not put at risk: while it is accepted no login is made (a
    service may keep one token a key; assumed). Each step keeps to the client's time-outs, and all
    together to `timeout` seconds, but for the look-up of a name, which takes as long as its
    resolver does, and for a name of several addresses, each of which is tried. Nothing is raised
    for what the service does: ParameterError and ConfigError are for wrong arguments alone. `clock`
    gives monotonic seconds, `now` those since the epoch.
    Sections 4, 5 and 7 of the interface.
    """
    bounds = {"max_failed_logins": max_failed_logins, "timeout": timeout}
    return Checklist(checkup(client, room_id, **bounds, clock=clock, now=now, new_id=new_id))


def checkup(client: Client, room_id: str | None = None, **how: Any) -> Iterator[Check]:
    """The checks of `doctor` one after another, as they are made; wrong arguments raise at once."""
    return _made(Case(client, room_id, **how))


def _made(case: Case) -> Iterator[Check]:
    stopped: dict[str, str] = {}  # a check that went wrong or was not made: what went wrong first
    for check, make, needs in STEPS:
        first = next((stopped[name] for name in needs if name in stopped), None)
        if first is not None:
            said = say("check.skipped", why=f"{first} did not pass")
        elif case.time_left <= 0:
            said = say("check.over", seconds=case.seconds)
        else:
            said = make(case)
            if said.timed_out and case.heard[-1].context.timeout != case.patience:
                said = say("check.late", found=said.found, seconds=case.seconds)
        if first or (said.verdict in ("FAIL", "UNKNOWN") and not said.settled):
            stopped[check] = first or check
        texts = (mask(text, *case.secrets) for text in (said.found, said.advice))
        yield Check(check, said.verdict, *texts)


class Said(NamedTuple):
    """A check's verdict, what was found, and the next step; `settled`: what was wrong is known, and
    the checks that follow go on with what is right; `timed_out`: no answer came in time."""

    verdict: Verdict
    found: str
    advice: str
    settled: bool
    timed_out: bool


def say(row: str, error: ConfkitError | None = None, **values: Any) -> Said:
    """What `doctor_says.toml` has in this row (`table.name`), with these values in it, and those of
    the `error` that came instead of what was asked for: in words, its code, its next step."""
    table, _, name = row.partition(".")
    texts = SAYS[table][name]
    error = error or ConfkitError("it answers")
    ret, meaning = getattr(error, "ret", 0), getattr(error, "meaning", "")
    came = error.cause if isinstance(error, TransportError) else error.said
    if isinstance(error, ApiError):
        came = f"it answers {ret}: {meaning}"
    values = {"came": came, "ret": ret, "meaning": meaning, "next": error.advice, **values}
    found, advice = (texts.get(part, "").format(**values) for part in ("found", "advice"))
    timed_out = isinstance(error, TransportTimeout)
    return Said(texts["verdict"], found, advice, row == "dialect.wrong", timed_out)


class Case(Inquiry):
    """The inquiry of a doctor, by a copy whose session notes what is `seen` under an answer, and
    how far the service's clock is ahead: the caller's own client, its token, its dialect and its
    session are left as they are."""

    def __init__(
        self,
        client: Client,
        room_id: str | None = None,
        *,
        max_failed_logins: int = 2,
        timeout: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self.room_id = None if room_id is None else identity(A3, "room_id", room_id)
        if not finite(timeout):
            raise ConfigError(f"timeout is {timeout!r}", "Give seconds for all checks, above 0")
        super().__init__(copy(client), max_failed_logins, seconds=timeout, clock=clock)
        self.given, self.seconds, self.now, self.new_id = client, timeout, now, new_id
        self.held = client.token() if client.authenticated else None
        self.known_rooms = [(one, "which this client made") for one in client.created[-1:]]
        self.read: str | None = None  # the room that was read
        self.mcu: str | None = None  # the address of its media server
        self.changed: dict[str, str] = {}  # settings of the dialect that were wrong
        self.ways = {interface: way(self, interface) for interface in SETTINGS}
        self.skews: list[float] = []
        self.seen: dict[str, Any] = {}
        session = copy(client.session)  # its adapters and their connections stay shared
        session.cookies = session.cookies.copy()
        noted = [*session.hooks.get("response", ()), self._note]
        session.hooks = {**session.hooks, "response": noted}
        self.client.session = session

    def _note(self, response: Any, *_: object, **__: object) -> None:
        self.seen = {"headers": response.headers}
        sock: Any = getattr(getattr(response.raw, "connection", None), "sock", None)
        with suppress(AttributeError, OSError, ValueError):  # gone, or of an adapter of one's own
            self.seen["address"] = sock.getpeername()[0]
            self.seen["certificate"] = sock.getpeercert()  # not of a plain socket
            self.seen["tls"] = sock.version()
        with suppress(LookupError, ValueError, TypeError, OverflowError):
            there = parsedate_to_datetime(response.headers["Date"]).timestamp()
            here = self.now() - response.elapsed.total_seconds() / 2
            self.skews.append(there + 0.5 - here)  # the header has whole seconds

    @property
    def secrets(self) -> set[str]:
        """What no check may quote."""
        key, sent = self.client.secret_key, (asked.secrets for asked in self.heard)
        return {key, key.strip(), self.held or "", self.token or ""}.union(*sent)

    def ask_at(self, url: str, asked: Attempt) -> Attempt:
        """What comes for the same request without a token at another address."""
        addresses = self.client._addresses
        self.client._addresses = {**addresses, asked.request.endpoint.interface: url}
        try:
            return self.ask(asked.request)
        finally:
            self.client._addresses = addresses

    def origins(self, *settings: str) -> str:
        """Where these settings came from, in brackets; empty where that is not known."""
        known = dict.fromkeys(filter(None, map(self.client.origins.get, settings)))
        return f" ({', '.join(known)})" if known else ""

    def wrong(self, what: str, **right: str) -> Said:
        """The failure for settings of the dialect that are wrong: what to set in the client's, with
        what turned out wrong before. The checks that follow go on with what was found."""
        changed = {name: it for name, it in right.items() if it != getattr(self.dialect, name)}
        self.changed |= changed
        settings = {**self.dialect.changes(), **self.changed}
        self.dialect = replace(self.dialect, **right)
        arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        line, now_set = (
            ",".join(f"{name}={value}" for name, value in each.items())
            for each in (settings, changed)
        )
        return say("dialect.wrong", what=what, changed=now_set, line=line, arguments=arguments)

    def look(self, endpoint: Endpoint, room_id: str = "") -> tuple[Found, Said | None]:
        """What an operation answers to the token, and the failure where it takes it under another
        name than the dialect's, or by another method."""
        question = TAKES_TOKEN[endpoint]
        found = self.find(question, question.request(room_id, self.new_id()))
        if not found.read or found.asked is found.first:
            return found, None
        used, way = question.ways(self.dialect)[0], found.settings[question.setting]
        what = f"{endpoint.key} refuses {used} ({found.first.call.ret}), and takes {way}"
        return found, self.wrong(what, **found.settings)


# The settings, and the way


def settings(case: Case) -> Said:
    """Whether the two addresses can be right, and where each setting came from."""
    try:
        case.given._is_open()
    except ConfigError as error:
        return say("settings.closed", why=error.problem)
    urls = {"base_url": case.client.base_url, "outgoing_url": case.client.outgoing_url}
    given = {**urls, "access_key": "is given", "secret_key": "is given"}
    shown = "; ".join(f"{name} {value}{case.origins(name)}" for name, value in given.items())
    for setting, url in urls.items():
        path = urlsplit(url).path
        if path and any(f"{one.path}/".startswith(f"{path}/") for one in ENDPOINTS.values()):
            right = url.removesuffix(path)
            return say("settings.path", shown=shown, setting=setting, path=path, right=right)
    plain = [name for name, url in urls.items() if url[:5] == "http:" and not on_loopback(url)]
    row = "settings.plain" if plain else "settings.well"
    return say(row, shown=shown, plain=" and ".join(plain))


def way(case: Case, interface: Interface) -> Iterator[Said]:
    """The stages of the way to an interface (name, TCP, TLS, HTTP), one after another, up to the
    first that is not well.

    One exchange settles them all: what kept it from being answered is known to the libraries that
    moved it, and stands in the error as its `obstacle`.
    """
    url, session = case.client._addresses[interface], case.client.session
    merged = session.merge_environment_settings(url, {}, None, session.verify, None)
    parts, verify, secure = urlsplit(url), merged["verify"], url.startswith("https:")
    proxy = select_proxy(url, merged["proxies"])
    name = "none" if _ADDRESS.fullmatch(parts.hostname or "") else "well"
    shown = urlsplit(proxy or "").netloc.rpartition("@")[2] or proxy
    known: dict[str, Any] = {"place": parts.netloc, "host": parts.hostname, "proxy": shown}
    known |= {"setting": SETTINGS[interface], "bundle": verify}
    case.seen = {}
    room = Request(A3, {"room_id": case.room_id or NO_ROOM})
    asked = case.ask(room if interface == "A" else Request(B3, {}))  # spends no login
    seen, error, rows = case.seen, asked.error, SAYS["obstacle"]
    obstacle = getattr(error, "obstacle", "")
    if obstacle and obstacle not in rows and secure:
        obstacle = "tls"
    reached = rows[obstacle]["stage"] if obstacle in rows else 3
    at = f": {seen['address']}" if "address" in seen else ""
    yield from [
        say(f"name.{'proxied' if proxy else name}", at=at, **known),
        say("TCP.proxied" if proxy else "TCP.well", **known),
        _tls(case, seen, verify) if secure else say("TLS.none"),
    ][:reached]
    if reached < 3:  # the next step is told by the words that say what went wrong
        said, steps = say(f"obstacle.{obstacle}", error, **known), rows[obstacle].get("steps", {})
        step = next((step for words, step in steps.items() if re.search(words, said.found)), "")
        yield said._replace(advice=said.advice or step.format(**known))
    elif asked.call.ret is None and not secure and _speaks_tls(case, url, asked):
        yield say("HTTP.secure", **known)
    else:
        yield _answer(case, asked, interface)


def _tls(case: Case, seen: Mapping[str, Any], verify: bool | str | None) -> Said:
    """The version of TLS, and until when the certificate is valid."""
    tls, until, row = seen.get("tls", "TLS"), "", "TLS.well"
    with suppress(KeyError, ValueError, TypeError):
        moment = ssl.cert_time_to_seconds(seen["certificate"]["notAfter"])
        until = datetime.fromtimestamp(moment, UTC).strftime(" until %Y-%m-%d")
        row = "TLS.soon" if moment - case.now() < _SOON * 86400 else row
    return say("TLS.unverified" if verify is False else row, tls=tls, until=until)


def _speaks_tls(case: Case, url: str, asked: Attempt) -> bool:
    """Whether a port that does not answer in plain HTTP, or says 400 to it, does so in TLS."""
    if isinstance(asked.error, TransportTimeout) or (asked.answer and asked.answer.status != 400):
        return False
    secure = case.ask_at(url.replace("http:", "https:", 1), asked)
    return secure.answer is not None or getattr(secure.error, "obstacle", "") == "certificate"


def _answer(case: Case, asked: Attempt, interface: Interface) -> Said:
    """Whether what answers speaks JSON as the interface does."""
    ret, answer, a, b = asked.call.ret, asked.answer, case.client.base_url, case.client.outgoing_url
    goal = case.seen.get("headers", {}).get("Location", "").partition("?")[0]
    other, served = b if interface == "A" else a, ret not in _NOT_SERVED
    if not served and a != b and case.ask_at(other, asked).call.ret not in _NOT_SERVED:
        return say("HTTP.swapped", interface=interface, a=a, b=b)
    # B3 by another method than the service takes is a matter of the dialect: see the token in B.
    if served or (ret is not None and interface == "B"):
        row = "HTTP.open" if ret == 0 else "HTTP.well" if ret in _NO_TOKEN else "HTTP.trouble"
        return say(row, asked.error, interface=interface)
    base = goal.removesuffix(asked.request.endpoint.path)
    if answer and answer.status in range(300, 400) and base != goal:
        return say("HTTP.moved", status=answer.status, setting=SETTINGS[interface], goal=base)
    return say("HTTP.failed", asked.error)


# The clocks, the keys and the token


def clock(case: Case) -> Said:
    """Whether this machine's clock and the service's agree, by the Date header of its answers."""
    if all(asked.call.ret is None for asked in case.heard):
        return say("clock.unasked")
    if not case.skews:
        return say("clock.unknown")
    skew = min(case.skews, key=abs)  # by the quickest answer
    row = "clock.well" if abs(skew) <= MOST_SKEW else "clock.wrong"
    side = "behind" if skew > 0 else "ahead of"
    return say(row, most=MOST_SKEW, apart=timedelta(seconds=round(abs(skew))), side=side)


def authentication(case: Case) -> Said:
    """Whether A1 accepts the keys, and what is wrong with them or with the dialect otherwise.

    A client that holds a token which is still accepted keeps it: some services may keep one token a
    key, and a login would end it for everybody who uses it.
    """
    if case.held is not None:
        asked = case.ask(Request(A3, {"room_id": NO_ROOM}), case.held)
        if asked.call.ret in (0, *UNKNOWN_ROOM, 416):
            case.token = case.held
            return say("login.held")
        if asked.call.ret not in REFUSED:
            return say("login.unclear", asked.error)
    last = case.log_in()
    if last is None:
        return say("login.none")
    right = last.context.dialect
    if last.call.ret in REFUSED:
        keys, row = ("access_key", "secret_key"), "login.bound" if case.untried else "login.refused"
        slip = "; {} holds white space, quotes or letters beyond ASCII, which may be pasted with it"
        odd = [slip.format(k) for k in keys if not _USUAL_KEY.fullmatch(getattr(case.client, k))]
        tried = f"{case.refusal()}; logins that failed: {case.failed}{''.join(odd)}"
        return say(row, last.error, tried=tried, origins=case.origins(*keys))
    if case.failure:
        row = "login.silent" if isinstance(case.failure, TransportError) else "login.failed"
        return say(row, case.failure, how=signed(right), failed=case.failed)
    if len(case.tried) == 1:
        return say("login.well")
    text = "your secret is right, but this deployment wants its signature in another way: "
    return case.wrong(text + signed(right), hash=right.hash, signature=right.signature)


def token(case: Case, endpoint: Endpoint) -> Said:
    """Whether an operation reads the token, and under which name: the answer is another one
    without it. B2 is asked to remove a user who is not there."""
    in_b2 = endpoint is B2
    if in_b2 and case.client.read_only:
        return say("token.readonly")
    found, other = case.look(endpoint, case.new_id() if in_b2 else case.room_id or NO_ROOM)
    ret, row = found.asked.call.ret, "token.unread"
    if found.read:
        [name] = found.settings.values()
        return other or say("token.well", title=endpoint.title, key=endpoint.key, name=name)
    if ret is None:
        row = "token.failed"
    elif ret == 602 or (ret in REFUSED and not in_b2):
        row = f"token.{endpoint.key}"
    elif in_b2 and ret in (0, 401, 425, *UNKNOWN_ROOM):
        row = "token.nobody"
    return say(row, found.asked.error, key=endpoint.key)


def token_in_b(case: Case) -> Said:
    """Whether interface B accepts the token; notes the rooms that it names."""
    found, other = case.look(B3)
    asked = found.asked
    if asked.members is None:
        refused = asked.call.ret in (*REFUSED, NOT_SUPPORTED)
        return other or say("token.B3" if refused else "token.failed", asked.error)
    try:
        devices = devices_of(asked.members)
    except ConfkitError as error:
        return say("token.listing", error)
    rooms = dict.fromkeys((one.room_id, "which has a device (B3)") for one in devices)
    case.known_rooms += list(rooms)[:2]
    are = "device is" if len(devices) == 1 else "devices are"
    return other or say("token.listed", devices=f"{len(devices) or 'no'} {are} listed")


# A room and its media server


def room(case: Case) -> Said:
    """Whether a room can be read: the given one, or one that is known of."""
    rooms = case.known_rooms if case.room_id is None else [(case.room_id, "")]
    for room_id, source in rooms:
        asked = case.ask(Request(A3, {"room_id": room_id}), case.token)
        if source and asked.call.ret in UNKNOWN_ROOM:
            continue  # it has gone meanwhile
        named = f"room {room_id}{source and ', '}{source}"
        if asked.members is None:
            return say("room.failed", asked.error, named=named)
        try:
            found = Room.read(asked.members, room_id)
        except ConfkitError as error:
            return say("room.unreadable", error, named=named)
        case.read = room_id
        row = "room.closed" if found.room_status == _CLOSED else "room.read"
        return say(row, named=named, topic=found.topic)
    asked = case.ask(Request(A3, {"room_id": NO_ROOM}), case.token)
    rows: dict[Any, str] = {0: "room.odd", **dict.fromkeys(UNKNOWN_ROOM, "room.unknown")}
    return say(rows.get(asked.call.ret, "room.trouble"), asked.error, room_id=NO_ROOM)


def media_server(case: Case) -> Said:
    """Which media server the room has (A5)."""
    if case.read is None:
        return say("mcu.unasked")
    found, other = case.look(A5, case.read)
    if found.asked.members is None:
        return other or say("mcu.failed", found.asked.error, room_id=case.read)
    try:
        case.mcu = needed(found.asked.members, "addr", "the media server")
    except ConfkitError as error:
        return say("mcu.failed", error, room_id=case.read)
    return other or say("mcu.named", room_id=case.read, address=case.mcu)


def media_server_tcp(case: Case) -> Said:
    """Whether the media server accepts a connection from here."""
    if case.mcu is None:
        return say("mcu.unknown")
    found = mcu_answers(case.mcu, max(0.01, min(MCU_SECONDS, case.patience[0], case.time_left)))
    return say("mcu.well" if found else "mcu.silent", reason=found.reason)


# A check by its name, how it is made, and the checks that have to go well before it.
Step = tuple[str, Callable[[Case], Said], tuple[str, ...]]


def _stages(interface: Interface) -> Iterator[Step]:
    names = [f"{stage} {interface}" for stage in _STAGES]
    for place, name in enumerate(names):
        yield name, lambda case: next(case.ways[interface]), ("settings", *names[:place])


STEPS: tuple[Step, ...] = (
    ("settings", settings, ()),
    *_stages("A"),
    *_stages("B"),
    ("clock", clock, ("settings",)),
    ("authentication", authentication, ("HTTP of A",)),
    ("token in A", partial(token, endpoint=A3), ("authentication",)),
    ("token in B", token_in_b, ("token in A", "HTTP of B")),
    ("token in B2", partial(token, endpoint=B2), ("token in A", "HTTP of B")),
    ("room", room, ("token in A",)),
    ("media server", media_server, ("room",)),
    ("TCP to media server", media_server_tcp, ("media server",)),
)
CHECKS = tuple(name for name, _, _ in STEPS)  # the names, in the order in which they come
