"""What networks, proxies and services do wrong to an answer, as a table.

A fault is a row of steps: bytes that are sent, seconds to wait, how the connection ends, or a
function of the case that gives one of these or several.
"""

import json
import random
import re
import zlib
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from gzip import compress
from typing import Any, NamedTuple

PAUSE = 0.05  # seconds: a delay that no deadline minds


class End(Enum):
    """How a connection ends: in order, with RST, or on the way back alone."""

    CLOSED, RESET, SHUT = range(3)


class Case(NamedTuple):
    """What a fault knows: the answer's body, chance, more seconds than the caller waits, and where
    a redirect would lead."""

    body: bytes
    chance: random.Random
    late: float
    elsewhere: str


Body = Callable[[Case], bytes]
CLOSED, RESET, SHUT = End


def answer(
    *headers: str,
    body: Body = lambda it: it.body,
    length: Callable[[Case], object] | None = None,
    status: str | Callable[[Case], str] = "200 OK",
) -> Body:
    """An answer with this body, whose length is said as it is or as `length` gives it, or not at
    all where that is nothing."""

    def sent(it: Case) -> bytes:
        made, said = body(it), status if isinstance(status, str) else status(it)
        size = len(made) if length is None else length(it)
        first = said if said.startswith(("HTTP", "ICY")) else f"HTTP/1.1 {said}"
        lines = [first, "Content-Type: application/json", *(one.format(it=it) for one in headers)]
        lines += [] if size is None else [f"Content-Length: {size}"]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + made

    return sent


def one_of(*those: Any) -> Callable[[Case], Any]:
    """One of these by chance."""
    return lambda it: it.chance.choice(those)


# Bodies that say the same in another way, or what nobody may believe

_NUMBERS = rb"ret|id|room_status|attendee_max|max_audio|max_video|room_mode|total"
_NUMBER = re.compile(rb'"(' + _NUMBERS + rb')": ?("\d*"|\d+)(?=[,}])')
_LARGE = ["1" + "0" * zeros for zeros in (19, 20, 30, 400, 4000, 5000)]


def numbers(write: Callable[[Case, str], str], every: bool = False) -> Body:
    """Writes every number of a body in this way, or one of them."""

    def altered(it: Case) -> bytes:
        body = it.body
        found = [one for one in _NUMBER.finditer(body) if every or one[1] != b"room_mode"]
        for one in reversed(found if every else it.chance.sample(found, min(1, len(found)))):
            written = write(it, one[2].decode().strip('"')).encode()
            body = body[: one.start(2)] + written + body[one.end(2) :]
        return body

    return altered


def one_number(*written: str) -> Body:
    """One of the numbers is one of these."""
    return numbers(lambda it, _: it.chance.choice(written))


def with_fields(change: Callable[[Case], dict[str, Any]]) -> Body:
    """Adds fields, or gives others of those that there are."""
    return lambda it: json.dumps({**json.loads(it.body), **change(it)}).encode()


_OTHER = {"room_id": "98", "room_extend_id": "", "topic": "Other"}


def no_utf_8(it: Case) -> bytes:
    """A text holds bytes that are no UTF-8."""
    at = it.chance.choice([one.start() for one in re.finditer(rb'"[:,}]', it.body)])
    broken = [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"]
    return it.body[:at] + it.chance.choice(broken) + it.body[at:]


def cut(it: Case) -> bytes:
    """The beginning of the body."""
    return it.body[: it.chance.randrange(len(it.body))]


def torn(it: Case) -> bytes:
    """The answer, cut off anywhere."""
    whole = WHOLE(it)
    return whole[: it.chance.randrange(1, len(whole))]


_NO_NUMBERS = [
    "true",
    "1e400",
    "-1e400",
    "25.5",
    '"25 people"',
    "[25]",
    '{"max": 25}',
    '"0x19"',
    '"1e400"',
    '"NaN"',
    '"Infinity"',
    '"٢٥"',
    '"1_0"',
    "9007199254740993.0",
]
_NO_CODES = [True, False, [], {}, "", " ", "ok", [0], {"code": 0}, 0.5, "0x0", "null"]
_MORE = {"code": 500, "trace": {"ret": 404}, "status": "error", "users": [], "Ret": 7}
_BIT_MORE = (str(2**63), str(-(2**63) - 1))
ALTERED: dict[str, Body] = {
    "quoted": numbers(lambda _, digits: f'"{digits}"', every=True),
    "unquoted": numbers(lambda _, digits: digits or "null", every=True),
    "not_numbers": one_number(*_NO_NUMBERS),
    "huge_integer": one_number(*_LARGE, *(f'"{one}"' for one in _LARGE), *_BIT_MORE),
    "nan": one_number("NaN", "Infinity", "-Infinity"),
    "duplicate_keys": lambda it: it.body.replace(b"{", b'{"ret": 7, ', 1),
    "duplicate_same": lambda it: re.sub(rb'("ret": ?"?\d+"?)', rb"\1, \1", it.body, count=1),
    "invalid_utf8": no_utf_8,
    "utf_16": lambda it: it.body.decode().encode(it.chance.choice(["utf-16", "utf-32"])),
    "bom": lambda it: b"\xef\xbb\xbf" + it.body,
    "null_ret": with_fields(lambda it: {"ret": None}),
    "odd_ret": with_fields(lambda it: {"ret": it.chance.choice(_NO_CODES)}),
    "no_ret": lambda it: it.body.replace(b'"ret"', b'"code"'),
    "no_list": with_fields(lambda it: {"user_list": None, "data": None}),
    "other_room": with_fields(lambda it: _OTHER if b'"room_id"' in it.body else {}),  # by a cache
    "more_fields": with_fields(lambda it: _MORE),
    "spaced": lambda it: b"\r\n\t " + it.body.replace(b", ", b" ,\n\t") + b"\n" * 5000,
    "cut": cut,
    "doubled": lambda it: it.body * 2,
}

# Where an answer begins and ends, how it is packed, and what becomes of its connection


def pieces(data: bytes, size: int) -> list[bytes]:
    """The data in pieces of this size."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def dripped(it: Case) -> Iterator[bytes | float]:
    """Each byte is soon there, and the last one late; in the head or in the body."""
    data = WHOLE(it)
    at = it.chance.choice([0, len(data) - len(it.body)])
    yield data[:at]
    for byte in pieces(data[at : at + 60], 1):
        yield byte
        yield it.late / 60


def chunks(end: bytes, most: int | None = None) -> Body:
    """An answer, or its beginning, in chunks."""

    def body(it: Case) -> bytes:
        said = [b"%x;note=1\r\n%b\r\n" % (len(one), one) for one in pieces(it.body[:most], 37)]
        return b"".join(said) + end

    return answer("Transfer-Encoding: chunked", body=body, length=unsaid)


def unsaid(it: Case) -> None:
    """The body ends with the connection."""


@cache
def bomb(times: int) -> bytes:
    """A gigabyte of blanks, packed; its end is not reached by anybody who counts."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packing.compress(b" " * 2**20) + packing.flush(zlib.Z_FULL_FLUSH)
    packed = bytes.fromhex("1f8b08000000000002ff") + piece * 1024 + packing.flush() + bytes(8)
    return compress(packed) if times > 1 else packed


def gzip(pack: Callable[[bytes], bytes], coding: str = "gzip") -> Body:
    """An answer that says to be packed in this way."""
    return answer(f"Content-Encoding: {coding}", body=lambda it: pack(it.body))


def nothing(status: Any, *headers: str) -> tuple[Body]:
    """An answer without a body."""
    return (answer(*headers, body=lambda it: b"", status=status),)


def text(body: str, *headers: str, status: Any = "200 OK") -> Body:
    """An answer with this text."""
    return answer(*headers, body=lambda it: body.encode(), status=status)


def late(it: Case) -> float:
    """A wait that is too long."""
    return it.late


WHOLE, SOON, CLOSES = answer(), PAUSE / 10, "Connection: close"
_LARGE_TOO = answer(body=lambda it: it.body + b" " * 100_000)
_AT_ONCE = "Retry-After: 1"
_MORE_SAID = answer(length=lambda it: len(it.body) + 4)
_LENGTHS = one_of("many", "-1", "1e3", "9" * 30, "0x20", str(2**63))
_SIZES = one_of(b"zz", b"-5", b"", b"f" * 20, b"0x10", b"1_0", b"7fffffffffffffff", b" ")
_EARLY = "HTTP/1.1 %s\r\nLink: </x>\r\n\r\n"
_INTERIM = one_of(*((_EARLY % one).encode() for one in ("100 Continue", "102 Processing")))
FRAMED: dict[str, tuple[Any, ...]] = {
    "delay": (lambda it: it.chance.uniform(0, PAUSE), WHOLE),
    "late": (late, WHOLE, CLOSED),
    "drip": (lambda it: [step for one in pieces(WHOLE(it), 60) for step in (one, SOON)],),
    "drip_late": (dripped, CLOSED),
    "lost": (RESET,),
    "reset_during": (torn, SOON, RESET),
    "reset_after": (WHOLE, SOON, RESET),
    "closed_after": (WHOLE, CLOSED),
    "half_closed": (SHUT,),
    "half_closed_during": (torn, SHUT),
    "head_only": (answer(body=lambda it: b"", length=lambda it: len(it.body)), late, CLOSED),
    "http_504": nothing("504 Gateway Time-out"),
    "success_500": (answer(status="500 Internal Server Error"),),
    "cut_closed": (answer(body=cut, length=lambda it: len(it.body)), CLOSED),
    "cut_unsaid": (answer(CLOSES, body=cut, length=unsaid), CLOSED),
    "unsaid": (answer(CLOSES, length=unsaid), CLOSED),
    # In one piece: what came apart would be the next call's answer, which no client can know.
    "twice": (lambda it: WHOLE(it) * 2,),
    "twice_large": (lambda it: WHOLE(it) + _LARGE_TOO(it),),
    "length_short": (answer(length=lambda it: it.chance.randrange(len(it.body))),),
    "length_long": (_MORE_SAID, CLOSED),
    "length_long_open": (_MORE_SAID, late, CLOSED),
    "length_wrong": (answer(length=_LENGTHS), CLOSED),
    "chunked": (chunks(b"0\r\n\r\n"),),
    "chunked_wrong": (chunks(b"", 9), _SIZES, b"\r\n", lambda it: it.body, CLOSED),
    "chunked_cut": (chunks(b""), CLOSED),
    "interim": (_INTERIM, _INTERIM, one_of(0.0, PAUSE), WHOLE),
    "http_10": (answer(status="HTTP/1.0 200 OK"), CLOSED),
    "gzip": (gzip(compress),),
    "deflated": (gzip(zlib.compress, "deflate"),),
    "deflated_without_head": (gzip(lambda body: zlib.compress(body)[2:-4], "deflate"),),
    "gzip_broken": (gzip(lambda body: compress(body)[:-9] + b"broken end"),),
    "gzip_unpacked": (gzip(bytes),),
    "gzip_cut": (gzip(lambda body: compress(body)[: len(body) // 2]),),
    "encoding_unknown": (gzip(lambda body: body[::-1], "x-own"),),
}
_STATUS = one_of("HTTP/1.1 999 ?", "HTTP/1.1 abc", "HTTP/9.9 200 OK", "HTTP/1.1", "ICY 200 OK")
_MOVED = one_of("301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent")
INSTEAD: dict[str, tuple[Any, ...]] = {  # the request is not forwarded
    "silent": (late, CLOSED),
    "reset_before": (RESET,),
    "closed_before": (CLOSED,),
    "html": (text("<!DOCTYPE html><html><title>Log in</title><p>Who are you?</html>"),),
    "empty": nothing(one_of("200 OK", "204 No Content")),
    "redirect": nothing(_MOVED, "Location: {it.elsewhere}"),
    "http_429": nothing("429 Too Many Requests", _AT_ONCE),
    "http_500": (text("no", status="500 Internal Server Error"),),
    "http_502": nothing("502 Bad Gateway"),
    "http_503": nothing("503 Service Unavailable", _AT_ONCE),
    "strange_status": (text("{}", status=_STATUS), CLOSED),
    "not_http": (one_of(b"SSH-2.0-x\r\n", bytes(range(128, 150)), b"\r\n" * 5000), CLOSED),
    "header_flood": (text("{}", *(f"X-{n}: {'y' * 60}" for n in range(8000))), CLOSED),
    "header_long": (text("{}", f"X-Long: {'y' * 500_000}"), CLOSED),
    "gzip_bomb": (answer("Content-Encoding: gzip", body=lambda it: bomb(1)), CLOSED),
    "gzip_bomb_twice": (answer("Content-Encoding: gzip, gzip", body=lambda it: bomb(2)), CLOSED),
}
FAULTS: dict[str, tuple[Any, ...]] = {
    **{name: (answer(body=alter),) for name, alter in ALTERED.items()},
    **FRAMED,
    **INSTEAD,
}
SLOW = frozenset({"late", "drip_late", "length_long_open", "head_only", "silent"})
BOMBS = frozenset({"gzip_bomb", "gzip_bomb_twice"})
# What HTTP and JSON allow, or common services do: a read has to give the truth all the same.
BENIGN = frozenset(
    {
        "delay",
        "drip",
        "chunked",
        "gzip",
        "deflated",
        "deflated_without_head",
        "unsaid",
        "interim",
        "http_10",
        "closed_after",
        "quoted",
        "unquoted",
        "duplicate_same",
        "more_fields",
        "spaced",
        "bom",
    }
)


def steps(name: str, case: Case) -> Iterator[bytes | float | End]:
    """What becomes of an answer under this fault."""
    for step in FAULTS[name]:
        made = step(case) if callable(step) and not isinstance(step, End) else step
        yield from [made] if isinstance(made, bytes | float | End) else made
