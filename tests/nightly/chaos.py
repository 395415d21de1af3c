"""What networks, proxies and services do wrong to an answer, as a table.

A fault turns the body of an answer into steps: bytes that are sent, seconds to wait, or how the
connection ends. `FAULTS` holds all of them by name.
"""

import json
import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
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

    def torn(self) -> bytes:
        """The answer, cut off anywhere."""
        return whole(self.body)[: self.chance.randrange(1, len(whole(self.body)))]


Alter = Callable[[bytes, random.Random], bytes]
Steps = Callable[[Case], Iterable[bytes | float | End]]


def head(length: object, *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    """The head of an answer; without a length the body ends with the connection."""
    lines = [status, "Content-Type: application/json", *headers]
    lines += [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def whole(body: bytes, *headers: str) -> bytes:
    """An answer as it has to be."""
    return head(len(body), *headers) + body


# Bodies that say the same in another way, or what nobody may believe

_NUMBERS = rb"ret|id|room_status|attendee_max|max_audio|max_video|room_mode|total"
_NUMBER = re.compile(rb'"(' + _NUMBERS + rb')": ?("\d*"|\d+)(?=[,}])')
_BEYOND = ["1" + "0" * zeros for zeros in (19, 20, 30, 400, 4000, 5000)]


def numbers(write: Callable[[str, random.Random], str], every: bool = False) -> Alter:
    """Writes every number of a body in this way, or one of them."""

    def altered(body: bytes, chance: random.Random) -> bytes:
        found = [one for one in _NUMBER.finditer(body) if every or one[1] != b"room_mode"]
        for one in reversed(found if every else chance.sample(found, min(1, len(found)))):
            written = write(one[2].decode().strip('"'), chance).encode()
            body = body[: one.start(2)] + written + body[one.end(2) :]
        return body

    return altered


def with_fields(**fields: Any) -> Alter:
    """Adds fields, or gives others of those that there are; one of a list by chance."""

    def altered(body: bytes, chance: random.Random) -> bytes:
        chosen = {name: one(chance) if callable(one) else one for name, one in fields.items()}
        return json.dumps({**json.loads(body), **chosen}).encode()

    return altered


def of_another_room(body: bytes, chance: random.Random) -> bytes:
    """A cache gives the answer for another room."""
    other = {"room_id": "98", "room_extend_id": "", "topic": "Other"}
    return json.dumps({**json.loads(body), **(other if b'"room_id"' in body else {})}).encode()


def no_utf_8(body: bytes, chance: random.Random) -> bytes:
    """A text holds bytes that are no UTF-8."""
    at = chance.choice([one.start() for one in re.finditer(rb'"[:,}]', body)])
    broken = [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"]
    return body[:at] + chance.choice(broken) + body[at:]


_NO_NUMBERS = ["true", "1e400", "-1e400", "25.5", '"25 people"', "[25]", '{"max": 25}', '"0x19"',
               '"1e400"', '"NaN"', '"Infinity"', '"٢٥"', '"1_0"', "9007199254740993.0"]  # fmt: skip
_NO_CODES = [True, False, [], {}, "", " ", "ok", [0], {"code": 0}, 0.5, "0x0", "null"]
_MORE = {"code": 500, "trace": {"ret": 404}, "status": "error", "users": [], "Ret": 7}
ALTERED: dict[str, Alter] = {
    "quoted": numbers(lambda digits, _: f'"{digits}"', every=True),
    "unquoted": numbers(lambda digits, _: digits or "null", every=True),
    "not_numbers": numbers(lambda _, chance: chance.choice(_NO_NUMBERS)),
    "huge_integer": numbers(
        lambda _, chance: chance.choice(
            [*_BEYOND, *(f'"{one}"' for one in _BEYOND), str(2**63), str(-(2**63) - 1)]
        )
    ),
    "nan": numbers(lambda _, chance: chance.choice(["NaN", "Infinity", "-Infinity"])),
    "duplicate_keys": lambda body, _: body.replace(b"{", b'{"ret": 7, ', 1),
    "duplicate_same": lambda body, _: re.sub(rb'("ret": ?"?\d+"?)', rb"\1, \1", body, count=1),
    "invalid_utf8": no_utf_8,
    "utf_16": lambda body, chance: body.decode().encode(chance.choice(["utf-16", "utf-32"])),
    "bom": lambda body, _: b"\xef\xbb\xbf" + body,
    "null_ret": with_fields(ret=None),
    "odd_ret": with_fields(ret=lambda chance: chance.choice(_NO_CODES)),
    "no_ret": lambda body, _: body.replace(b'"ret"', b'"code"'),
    "no_list": with_fields(user_list=None, data=None),
    "other_room": of_another_room,
    "more_fields": with_fields(**_MORE),
    "spaced": lambda body, _: (
        b"\r\n\t " + json.dumps(json.loads(body), indent=3).encode() + b"\n" * 5000
    ),
    "cut": lambda body, chance: body[: chance.randrange(1, len(body))],
    "doubled": lambda body, _: body + body,
}

# Where an answer begins and ends, how it is packed, and what becomes of its connection


def pieces(data: bytes, size: int) -> list[bytes]:
    """The data in pieces of this size."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def dripped(it: Case) -> Iterator[bytes | float | End]:
    """Each byte is soon there, and the last one late; in the head or in the body."""
    data = whole(it.body)
    at = it.chance.choice([0, len(data) - len(it.body)])
    yield data[:at]
    for byte in data[at : at + 60]:
        yield bytes([byte])
        yield it.late / 60
    yield End.CLOSED


def chunks(body: bytes) -> bytes:
    """The beginning of an answer in chunks, with none that ends it."""
    said = [b"%x;note=1\r\n%b\r\n" % (len(one), one) for one in pieces(body, 37)]
    return head(None, "Transfer-Encoding: chunked") + b"".join(said)


def interim(it: Case) -> Iterator[bytes | float]:
    """Answers of the kind "still working" come before the answer itself."""
    for status in it.chance.choices(["100 Continue", "102 Processing", "103 Early Hints"], k=2):
        yield f"HTTP/1.1 {status}\r\nLink: </x>\r\n\r\n".encode()
    yield it.chance.choice([0.0, PAUSE])
    yield whole(it.body)


@cache
def bomb(times: int) -> bytes:
    """A gigabyte of blanks, packed; its end is not reached by anybody who counts."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packing.compress(b" " * 2**20) + packing.flush(zlib.Z_FULL_FLUSH)
    packed = bytes.fromhex("1f8b08000000000002ff") + piece * 1024 + packing.flush() + bytes(8)
    return compress(packed) if times > 1 else packed


_GZIP, _CLOSE = "Content-Encoding: gzip", "Connection: close"
_LENGTHS = ["many", "-1", "1e3", "9" * 30, "0x20", str(2**63)]
_SIZES = [b"zz", b"-5", b"", b"f" * 20, b"0x10", b"1_0", b"7fffffffffffffff", b" "]
FRAMED: dict[str, Steps] = {
    "delay": lambda it: [it.chance.uniform(0, PAUSE), whole(it.body)],
    "late": lambda it: [it.late, whole(it.body), End.CLOSED],
    "drip": lambda it: [step for one in pieces(whole(it.body), 60) for step in (one, PAUSE / 10)],
    "drip_late": dripped,
    "lost": lambda it: [End.RESET],
    "reset_during": lambda it: [it.torn(), PAUSE / 10, End.RESET],
    "reset_after": lambda it: [whole(it.body), PAUSE / 10, End.RESET],
    "closed_after": lambda it: [whole(it.body), End.CLOSED],
    "half_closed": lambda it: [End.SHUT],
    "half_closed_during": lambda it: [it.torn(), End.SHUT],
    "head_only": lambda it: [head(len(it.body)), it.late, End.CLOSED],
    "http_504": lambda it: [head(0, status="HTTP/1.1 504 Gateway Time-out")],
    "success_500": lambda it: [
        head(len(it.body), status="HTTP/1.1 500 Internal Server Error") + it.body
    ],
    "cut_closed": lambda it: [
        head(len(it.body)) + it.body[: it.chance.randrange(len(it.body))],
        End.CLOSED,
    ],
    "cut_unsaid": lambda it: [
        head(None, _CLOSE) + it.body[: it.chance.randrange(len(it.body))],
        End.CLOSED,
    ],
    "unsaid": lambda it: [head(None, _CLOSE) + it.body, End.CLOSED],
    "twice": lambda it: [whole(it.body) * 2],
    "twice_large": lambda it: [whole(it.body) + whole(it.body + b" " * 100_000)],
    "length_short": lambda it: [head(it.chance.randrange(len(it.body))) + it.body],
    "length_long": lambda it: [head(len(it.body) + 4) + it.body, End.CLOSED],
    "length_long_open": lambda it: [head(len(it.body) + 4) + it.body, it.late, End.CLOSED],
    "length_wrong": lambda it: [head(it.chance.choice(_LENGTHS)) + it.body, End.CLOSED],
    "chunked": lambda it: [chunks(it.body) + b"0\r\n\r\n"],
    "chunked_wrong": lambda it: [
        chunks(it.body[:9]) + it.chance.choice(_SIZES) + b"\r\n" + it.body,
        End.CLOSED,
    ],
    "chunked_cut": lambda it: [chunks(it.body), End.CLOSED],
    "interim": interim,
    "http_10": lambda it: [head(len(it.body), status="HTTP/1.0 200 OK") + it.body, End.CLOSED],
    "gzip": lambda it: [whole(compress(it.body), _GZIP)],
    "deflated": lambda it: [
        whole(
            it.chance.choice([zlib.compress(it.body), zlib.compress(it.body)[2:-4]]),
            "Content-Encoding: deflate",
        )
    ],
    "gzip_broken": lambda it: [whole(compress(it.body)[:-9] + b"broken end", _GZIP)],
    "gzip_unpacked": lambda it: [whole(it.body, _GZIP)],
    "gzip_cut": lambda it: [whole(compress(it.body)[: len(it.body) // 2], _GZIP)],
    "encoding_unknown": lambda it: [whole(it.body[::-1], "Content-Encoding: x-own")],
}
_STATUS = ["HTTP/1.1 999 ?", "HTTP/1.1 abc", "HTTP/9.9 200 OK", "HTTP/1.1", "ICY 200 OK"]
_MOVED = ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
INSTEAD: dict[str, Steps] = {  # the request is not forwarded
    "silent": lambda it: [it.late, End.CLOSED],
    "reset_before": lambda it: [End.RESET],
    "closed_before": lambda it: [End.CLOSED],
    "html": lambda it: [whole(b"<!DOCTYPE html><html><title>Log in</title><p>Who are you?</html>")],
    "empty": lambda it: [
        head(0, status=it.chance.choice(["HTTP/1.1 200 OK", "HTTP/1.1 204 No Content"]))
    ],
    "redirect": lambda it: [
        head(0, f"Location: {it.elsewhere}", status=f"HTTP/1.1 {it.chance.choice(_MOVED)}")
    ],
    "http_429": lambda it: [head(0, "Retry-After: 1", status="HTTP/1.1 429 Too Many Requests")],
    "http_500": lambda it: [head(2, status="HTTP/1.1 500 Internal Server Error") + b"no"],
    "http_502": lambda it: [head(0, status="HTTP/1.1 502 Bad Gateway")],
    "http_503": lambda it: [head(0, "Retry-After: 1", status="HTTP/1.1 503 Service Unavailable")],
    "strange_status": lambda it: [head(2, status=it.chance.choice(_STATUS)) + b"{}", End.CLOSED],
    "not_http": lambda it: [
        it.chance.choice([b"SSH-2.0-x\r\n", it.chance.randbytes(20), b"\r\n" * 5000]),
        End.CLOSED,
    ],
    "header_flood": lambda it: [
        head(2, *[f"X-{n}: {'y' * 60}" for n in range(it.chance.choice([101, 8000]))]) + b"{}",
        End.CLOSED,
    ],
    "header_long": lambda it: [
        head(2, f"X-Long: {'y' * it.chance.choice([70_000, 500_000])}") + b"{}",
        End.CLOSED,
    ],
    "gzip_bomb": lambda it: [whole(bomb(1), _GZIP), End.CLOSED],
    "gzip_bomb_twice": lambda it: [whole(bomb(2), "Content-Encoding: gzip, gzip"), End.CLOSED],
}


def _replied(alter: Alter) -> Steps:
    return lambda it: [whole(alter(it.body, it.chance))]


FAULTS: dict[str, Steps] = {
    **{name: _replied(alter) for name, alter in ALTERED.items()},
    **FRAMED,
    **INSTEAD,
}
SLOW = frozenset({"late", "drip_late", "length_long_open", "head_only", "silent"})
BOMBS = frozenset({"gzip_bomb", "gzip_bomb_twice"})
# What HTTP and JSON allow, or common services do: a read has to give the truth all the same.
BENIGN = frozenset({"delay", "drip", "chunked", "gzip", "deflated", "unsaid", "interim", "http_10",
                    "closed_after", "quoted", "unquoted", "duplicate_same", "more_fields",
                    "spaced", "bom"})  # fmt: skip
