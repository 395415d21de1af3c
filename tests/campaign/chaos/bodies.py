"""Bodies that say the same in another way, and bodies that say nothing one may believe."""

import json
import random
from collections.abc import Callable
from typing import Any

NUMBERS = (
    "ret",
    "id",
    "room_status",
    "attendee_max",
    "max_audio",
    "max_video",
    "room_mode",
    "total",
)
Alter = Callable[[Any, random.Random], str]


def altered(body: bytes, chance: random.Random, alter: Alter, *, every: bool = False) -> bytes:
    """The body with one of its numbers, or with every one, written by `alter` as JSON text."""
    members = json.loads(body)
    holders = [members, members["data"]] if isinstance(members.get("data"), dict) else [members]
    found = [
        (holder, name)
        for holder in holders
        for name in NUMBERS
        # A room's mode may be any text.
        if _is_number(holder.get(name)) and (every or name != "room_mode")
    ]
    if not found:
        return body
    texts: dict[str, str] = {}
    for place, (holder, name) in enumerate(found if every else [chance.choice(found)]):
        mark = f"\0{place}\0"
        texts[json.dumps(mark)] = alter(holder[name], chance)
        holder[name] = mark
    written = json.dumps(members, ensure_ascii=False)
    for mark, text in texts.items():
        written = written.replace(mark, text)
    return written.encode("utf-8", "surrogatepass")


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return value == "" or value.isdigit()
    return isinstance(value, int) and not isinstance(value, bool)


def quoted(value: Any, _: random.Random) -> str:
    """The number in quotes."""
    return f'"{value}"'


def unquoted(value: Any, _: random.Random) -> str:
    """The number without quotes; an empty text becomes null."""
    return str(value) if value != "" else "null"


def same(value: Any, chance: random.Random) -> str:
    """The number in one of the other ways in which the same number can be written."""
    if value == "":
        return '""'
    number = int(value)
    ways = [f"{number}.0", f'"{number}.0"', f'" {number} "', f"{number}e0", f"{number}.0E+0"]
    ways += ["-0", "-0.0", '"-0"'] if number == 0 else [f'"+{number}"']
    return chance.choice(ways)


def no_number(_: Any, chance: random.Random) -> str:
    """What is no whole number that anybody may believe."""
    return chance.choice(
        ["true", "1e400", "-1e400", "25.5", '"25 people"', "[25]", '{"max": 25}', '"0x19"',
         '"1e400"', '"NaN"', '"Infinity"', '"٢٥"', '"1_0"', "9007199254740993.0", '"--5"']
    )  # fmt: skip


def huge(_: Any, chance: random.Random) -> str:
    """An integer that fits nowhere."""
    digits = "1" + "0" * chance.choice([19, 20, 30, 400, 4000, 5000])
    return chance.choice([digits, f'"{digits}"', f"-{digits}", str(2**63), str(-(2**63) - 1)])


def constant(_: Any, chance: random.Random) -> str:
    """What Python's own JSON takes for a number, and JSON does not know."""
    return chance.choice(["NaN", "Infinity", "-Infinity"])


def duplicated(body: bytes, chance: random.Random, *, differ: bool) -> bytes:
    """The body with one of its names a second time, before or behind, with the same value or with
    another."""
    members = json.loads(body)
    name = chance.choice(list(members))
    value = _other(members[name]) if differ else members[name]
    again = f"{_name(name, chance)}: {json.dumps(value)}"
    inner = body.strip()[1:-1].decode("utf-8", "surrogatepass")
    both = f"{{{again}, {inner}}}" if chance.random() < 0.5 else f"{{{inner}, {again}}}"
    return both.encode("utf-8", "surrogatepass")


def _name(name: str, chance: random.Random) -> str:
    """The name as JSON, in one of the ways in which it can be written."""
    plain = json.dumps(name)
    return chance.choice([plain, f"{plain} ", plain.replace(name[0], f"\\u{ord(name[0]):04x}", 1)])


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return "7" if value != "7" else "8"
    if isinstance(value, int):
        return value + 7
    return {"total": 0, "items": []} if isinstance(value, dict) else []


def inside(body: bytes, **fields: Any) -> bytes:
    """The body with further fields, or with other values of its own."""
    return json.dumps({**json.loads(body), **fields}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def lists_of(body: bytes) -> str | None:
    """The name under which the body's list stands, or what holds it."""
    members = json.loads(body)
    return next((name for name in ("user_list", "data") if name in members), None)
