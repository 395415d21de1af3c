"""HTTP as bytes: what a request asks for, and what a service answered."""

import asyncio
import json
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHANGING = ("timestamp", "random", "nonce")


class Asked(NamedTuple):
    """One request as it came, head and body."""

    method: str
    target: str
    head: bytes
    body: bytes

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The parameters of query and body, in their order."""
        found = parse_qsl(self.target.partition("?")[2], keep_blank_values=True)
        if self.body[:1] == b"{":
            members: dict[str, Any] = json.loads(self.body)
            return found + [(name, str(value)) for name, value in members.items()]
        return found + parse_qsl(self.body.decode("latin-1"), keep_blank_values=True)

    @property
    def key(self) -> str:
        """What it asks for, the same whenever it is asked again."""
        same = [(name, value) for name, value in self.fields if not _is_changing(name)]
        return f"{self.method} {self.target.partition('?')[0]} {same}"

    @property
    def secrets(self) -> list[str]:
        """Token and digest."""
        return [value for name, value in self.fields if is_secret(name) and len(value) > 7]


class Answered(NamedTuple):
    """One answer as it came."""

    head: bytes
    body: bytes

    @property
    def is_json(self) -> bool:
        """Whether it is one of the interface, and no page of a gateway."""
        try:
            return isinstance(json.loads(self.body), dict)
        except ValueError:
            return False


def is_secret(name: str) -> bool:
    """Whether a parameter of this name holds a token or a digest."""
    return name.lower().endswith(("token", "digest"))


def _is_changing(name: str) -> bool:
    return is_secret(name) or name.lower() in _CHANGING


def held_in(text: str, secrets: set[str]) -> bool:
    """Whether one of the secrets stands in a text, encoded or not."""
    plain = unquote(unquote(text))
    return any(secret in text or secret in plain for secret in secrets.copy())


async def read_request(reader: asyncio.StreamReader) -> Asked | None:
    """The next request of a connection, or None when there is no other."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await _body(reader, head)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None
    method, target, _ = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
    return Asked(method, target, head, body)


async def read_answer(reader: asyncio.StreamReader) -> Answered:
    """The answer of a service, which says how long it is."""
    head = await reader.readuntil(b"\r\n\r\n")
    return Answered(head, await _body(reader, head))


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    length = _LENGTH.search(head)
    return await reader.readexactly(int(length[1])) if length else b""
