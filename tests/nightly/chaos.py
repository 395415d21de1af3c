"""What networks, proxies and services do wrong to an answer, as a table: the answers of
`tests.ways`, and what is drawn anew each time."""

import json
import random
import re
import socket
import time
import zlib
from collections.abc import Callable
from functools import cache
from gzip import compress
from typing import Any, NamedTuple

import confkit as ck
from tests.scripted import Reply
from tests.ways import HEAD, answers, raw, reset


class Case(NamedTuple):
    """What a fault knows: the answer's body, chance, more seconds than the caller waits, and where
    a redirect would lead."""

    body: bytes
    chance: random.Random
    late: float
    elsewhere: str


Fault = Callable[[Case], Reply]
_EXAMPLE = answers(b'{"ret": 0}')
# What would be another word of the service's, which no caller could doubt, is left out.
_KINDS = (dict, ck.ProtocolError, ck.TransportError, ck.TransportTimeout)
_KNOWN = {name: kind for name, (_, kind) in _EXAMPLE.items() if kind in _KINDS}


def known(name: str) -> Fault:
    """One of the answers of `tests.ways`, with this body."""
    return lambda it: answers(it.body, it.late)[name][0]


# Bodies that say the same in another way, or what nobody may believe

_NUMBERS = rb"ret|id|room_status|attendee_max|max_audio|max_video|room_mode|total"
_NUMBER = re.compile(rb'"(' + _NUMBERS + rb')": ?("\d*"|\d+)(?=[,}])')


def every_number(write: Callable[[bytes], bytes]) -> Fault:
    """Writes every number of a body in this way."""
    return lambda it: Reply(_NUMBER.sub(lambda one: b'"%b": %b' % (one[1], write(one[2])), it.body))


def one_number(*written: str) -> Fault:
    """One of the numbers is one of these."""

    def altered(it: Case) -> Reply:
        found = [one for one in _NUMBER.finditer(it.body) if one[1] != b"room_mode"]
        if not found:
            return Reply(it.body)
        start, end = it.chance.choice(found).span(2)
        return Reply(it.body[:start] + it.chance.choice(written).encode() + it.body[end:])

    return altered


def with_fields(**fields: Any) -> Fault:
    """Adds fields, or gives others of those that there are: each one of a list."""
    return lambda it: Reply(
        {**json.loads(it.body), **{name: it.chance.choice(those) for name, those in fields.items()}}
    )


def no_utf_8(it: Case) -> Reply:
    """A text holds bytes that are no UTF-8."""
    at = it.chance.choice([one.start() for one in re.finditer(rb'"[:,}]', it.body)])
    broken = [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"]
    return Reply(it.body[:at] + it.chance.choice(broken) + it.body[at:])


def cut(it: Case) -> bytes:
    """The beginning of the body."""
    return it.body[: it.chance.randrange(len(it.body))]


def other_room(it: Case) -> Reply:
    """The answer to another call, by a cache."""
    other = {"room_id": ["98"], "room_extend_id": [""], "topic": ["Other"]}
    return with_fields(**other)(it) if b'"room_id"' in it.body else Reply(it.body)


_LARGE = ["1" + "0" * zeros for zeros in (19, 20, 30, 400, 4000, 5000)]
_HUGE = [*_LARGE, *(f'"{one}"' for one in _LARGE), str(2**63), str(-(2**63) - 1)]
_NO_NUMBERS = (
    'true 1e400 -1e400 25.5 "25p" [25] {"max":25} "0x19" "1e400" "NaN" "Infinity" "٢٥" "1_0" '
    "9007199254740993.0"
)
_NO_CODES = [True, False, [], {}, "", " ", "ok", [0], {"code": 0}, 0.5, "0x0", "null"]
ALTERED: dict[str, Fault] = {
    "quoted": every_number(lambda written: b'"%b"' % written.strip(b'"')),
    "unquoted": every_number(lambda written: written.strip(b'"') or b"null"),
    "not_numbers": one_number(*_NO_NUMBERS.split()),
    "huge_integer": one_number(*_HUGE),
    "nan": one_number("NaN", "Infinity", "-Infinity"),
    "invalid_utf8": no_utf_8,
    "utf_16": lambda it: Reply(it.body.decode().encode(it.chance.choice(["utf-16", "utf-32"]))),
    "bom": lambda it: Reply(b"\xef\xbb\xbf" + it.body),
    "odd_ret": with_fields(ret=[None, *_NO_CODES]),
    "no_ret": lambda it: Reply(it.body.replace(b'"ret"', b'"code"')),
    "no_list": with_fields(user_list=[None], data=[None]),
    "other_room": other_room,
    "more_fields": with_fields(code=[500], trace=[{"ret": 404}], status=["error"], Ret=[7]),
    "spaced": lambda it: Reply(b"\r\n\t " + it.body.replace(b", ", b" ,\n\t") + b"\n" * 5000),
    "cut": lambda it: Reply(cut(it)),
    "doubled": lambda it: Reply(it.body * 2),
}

# Where an answer begins and ends, how it is packed, and what becomes of its connection


def whole(body: bytes, length: object = None) -> bytes:
    """An answer, head and body, on a connection that stays open."""
    head = HEAD.replace(b"Connection: close\r\n", b"")
    said = str(len(body) if length is None else length).encode()
    return head + b"Content-Length: %b\r\n\r\n" % said + body


def shut(peer: socket.socket) -> None:
    """Ends a connection on the way back alone."""
    peer.shutdown(socket.SHUT_WR)


def dripping(it: Case) -> Reply:
    """Every piece comes soon after the one before."""

    def drip(peer: socket.socket) -> None:
        data = whole(it.body)
        for at in range(0, len(data), 60):
            peer.sendall(data[at : at + 60])
            time.sleep(0.005)

    return Reply(raw=drip, keeps=True)


@cache
def bomb() -> bytes:
    """A gigabyte of blanks, packed; its end is not reached by anybody who counts."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packing.compress(b" " * 2**20) + packing.flush(zlib.Z_FULL_FLUSH)
    return bytes.fromhex("1f8b08000000000002ff") + piece * 1024 + packing.flush() + bytes(8)


def packed(body: Callable[[], bytes], coding: str = "gzip") -> Fault:
    """An answer that says to be packed in this way."""
    return lambda it: Reply(body(), headers={"Content-Encoding": coding})


def redirect(it: Case) -> Reply:
    """The other host has it."""
    status = it.chance.choice([301, 302, 303, 307, 308])
    return Reply("", status=status, headers={"Location": it.elsewhere})


_LENGTHS = ("many", "-1", "1e3", "9" * 30, "0x20", 2**63)
_SIZES = (b"zz", b"-5", b"", b"f" * 20, b"0x10", b"1_0", b"7fffffffffffffff", b" ")
_CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n%.9b\r\n%b\r\n%b"
_STATUS = (b"HTTP/1.1 999 ?", b"HTTP/1.1 abc", b"HTTP/1.1", b"HTTP/9.9 200 OK", b"ICY 200 OK")
_AFTER = b" " * 100_000
FRAMED: dict[str, Fault] = {
    "drip": dripping,
    "reset_during": lambda it: raw(cut(it._replace(body=whole(it.body))), reset, 0.005),
    "reset_after": lambda it: raw(whole(it.body), reset, 0.005),
    "closed_after": lambda it: raw(whole(it.body)),
    "half_closed": lambda it: raw(b"", shut),
    "cut_unsaid": lambda it: raw(HEAD + b"\r\n" + cut(it)),
    # In one piece: what came apart would be the next call's answer, which no client can know.
    "twice": lambda it: raw(whole(it.body) * 2, keeps=True),
    "twice_large": lambda it: raw(whole(it.body) + whole(it.body + _AFTER), keeps=True),
    "length_short": lambda it: raw(whole(it.body, it.chance.randrange(len(it.body))), keeps=True),
    "length_wrong": lambda it: raw(whole(it.body, it.chance.choice(_LENGTHS))),
    "chunked_wrong": lambda it: raw(_CHUNKED % (it.body, it.chance.choice(_SIZES), it.body)),
    "encoding_unknown": lambda it: packed(lambda: it.body[::-1], "x-own")(it),
    "redirect": redirect,
    "busy": lambda it: Reply(
        "", status=it.chance.choice([502, 503, 504]), headers={"Retry-After": "1"}
    ),
    "strange_status": lambda it: raw(it.chance.choice(_STATUS) + b"\r\n\r\n{}"),
    "not_http": lambda it: raw(it.chance.choice([bytes(range(128, 150)), b"\r\n" * 5000])),
    "header_flood": lambda it: Reply({}, headers={f"X-{n}": "y" * 60 for n in range(8000)}),
    "gzip_bomb": packed(bomb),
    "gzip_bomb_twice": packed(lambda: compress(bomb()), "gzip, gzip"),
}
# What may be said of a call that the service has not got; nobody takes any of it for success. Where
# the way says that it has not passed the call on, that is so; the others may come after it, too.
UNHEARD = frozenset(
    {
        *(name for name, kind in _KNOWN.items() if kind in (ck.ProtocolError, ck.TransportError)),
        *("half_closed", "redirect", "busy", "strange_status", "not_http", "header_flood"),
    }
)
REFUSING = frozenset(name for name in UNHEARD if name == "429" or "redirect" in name)
FAULTS: dict[str, Fault] = {**{name: known(name) for name in _KNOWN}, **ALTERED, **FRAMED}
SLOW = frozenset(name for name, kind in _KNOWN.items() if kind is ck.TransportTimeout)
BOMBS = frozenset(
    {*(name for name in _KNOWN if "than fits" in name), "gzip_bomb", "gzip_bomb_twice"}
)
# What HTTP and JSON allow, or common services do: a read has to give the truth all the same.
BENIGN = frozenset(
    {
        *(name for name, kind in _KNOWN.items() if kind is dict),
        *("drip", "closed_after"),
        *("quoted", "unquoted", "more_fields", "spaced", "bom"),
    }
)
