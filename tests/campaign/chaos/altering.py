"""Faults in what an answer says: the same in other words, or what nobody may believe."""

import json

from . import bodies
from .bodies import altered, duplicated, inside, lists_of
from .line import Line

_DEEP = (70, 300, 900, 5000, 100_000)


async def quoted(line: Line) -> None:
    """Every number is in quotes."""
    await line.reply(altered((await line.answer()).body, line.chance, bodies.quoted, every=True))


async def unquoted(line: Line) -> None:
    """No number is in quotes."""
    await line.reply(altered((await line.answer()).body, line.chance, bodies.unquoted, every=True))


async def same_numbers(line: Line) -> None:
    """Every number is written in some other way that means the same."""
    await line.reply(altered((await line.answer()).body, line.chance, bodies.same, every=True))


async def not_numbers(line: Line) -> None:
    """In place of a number stands what is none."""
    await line.reply(altered((await line.answer()).body, line.chance, bodies.no_number))


async def huge_integer(line: Line) -> None:
    """In place of a number stands one that fits nowhere."""
    await line.reply(altered((await line.answer()).body, line.chance, bodies.huge))


async def nan(line: Line) -> None:
    """In place of a number stands NaN or Infinity, which JSON does not know."""
    await line.reply(altered((await line.answer()).body, line.chance, bodies.constant))


async def duplicate_keys(line: Line) -> None:
    """A name stands twice in the answer, with two values."""
    await line.reply(duplicated((await line.answer()).body, line.chance, differ=True))


async def duplicate_same(line: Line) -> None:
    """A name stands twice in the answer, with one value."""
    await line.reply(duplicated((await line.answer()).body, line.chance, differ=False))


async def deep(line: Line) -> None:
    """The answer, or a field of it, is lists in lists in lists."""
    nested = line.chance.choice(_DEEP)
    lists = b"[" * nested + b"]" * nested
    if line.chance.random() < 0.3:
        await line.reply(line.chance.choice([lists, b"[" * nested, b'{"a":' * nested]))
        return
    body = (await line.answer()).body.rstrip()
    name = line.chance.choice(["more", "data", "user_list", "attendee_max", "msg"])
    known = json.loads(body)
    if name in known:
        body = json.dumps({**known, name: 0}).encode()
        await line.reply(
            body.replace(b'"%b": 0' % name.encode(), b'"%b": %b' % (name.encode(), lists))
        )
    else:
        await line.reply(body[:-1] + b', "%b": %b}' % (name.encode(), lists))


async def deep_options(line: Line) -> None:
    """The options of a device are objects in objects, or such text, deeper than can be meant."""
    body = (await line.answer()).body
    members = json.loads(body)
    items = members["data"].get("items") if isinstance(members.get("data"), dict) else None
    if items:
        nested = line.chance.choice([300, 480, 900])
        text = '{"a":' * nested + "1" + "}" * nested
        items[0]["options"] = text if line.chance.random() < 0.5 else json.loads(text)
        body = json.dumps(members).encode()
    await line.reply(body)


async def invalid_utf8(line: Line) -> None:
    """A text holds bytes that are no UTF-8."""
    broken = line.chance.choice(
        [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"]
    )
    body = (await line.answer()).body
    places = [at for at in range(len(body) - 1) if body[at : at + 2] in (b'":', b'",', b'"}')]
    at = line.chance.choice(places)
    await line.reply(body[:at] + broken + body[at:])


async def utf_16(line: Line) -> None:
    """The body is JSON in another encoding."""
    text = (await line.answer()).body.decode("utf-8", "surrogatepass")
    encoding = line.chance.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
    await line.reply(text.encode(encoding, "surrogatepass"))


async def bom(line: Line) -> None:
    """A byte-order mark stands before the body."""
    await line.reply(b"\xef\xbb\xbf" + (await line.answer()).body)


async def null_ret(line: Line) -> None:
    """The result code is null."""
    await line.reply(inside((await line.answer()).body, ret=None))


async def odd_ret(line: Line) -> None:
    """The result code is no code: a truth, a list, an empty text, a word."""
    odd = [True, False, [], {}, "", " ", "ok", [0], {"code": 0}, 0.5, "0x0", "null"]
    await line.reply(inside((await line.answer()).body, ret=line.chance.choice(odd)))


async def no_ret(line: Line) -> None:
    """There is no result code."""
    members = json.loads((await line.answer()).body)
    members.pop("ret", None)
    await line.reply(json.dumps(members).encode())


async def no_list(line: Line) -> None:
    """Where a list is due stands something else, or nothing."""
    body = (await line.answer()).body
    name = lists_of(body)
    if name is not None:
        body = inside(
            body, **{name: line.chance.choice([None, "", {}, 0, "[]", [None], [[]], [{}]])}
        )
    await line.reply(body)


async def other_room(line: Line) -> None:
    """A cache gives the answer for another room."""
    body = (await line.answer()).body
    members = json.loads(body)
    if "room_id" in members:
        body = inside(body, room_id="98" + str(members["room_id"]), room_extend_id="")
    await line.reply(body)


async def more_fields(line: Line) -> None:
    """The answer holds fields that nobody knows, secrets among them."""
    body = (await line.answer()).body
    more = {"code": 500, "trace": {"ret": 404}, "status": "error", "users": [], "Ret": 7}
    await line.reply(inside(body, **more))


async def spaced(line: Line) -> None:
    """The same JSON with blanks and line breaks, and every letter beyond ASCII as its number."""
    members = json.loads((await line.answer()).body)
    await line.reply(b"\r\n\t " + json.dumps(members, indent=3).encode() + b"\n" * 5000)
