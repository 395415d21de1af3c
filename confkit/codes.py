"""What result codes mean (section 7): `codes.toml` holds a row for each, `explain` says it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .text import as_it_is, one_line


class Code(NamedTuple):
    """What one `ret` means, what probably caused it and what to do next (section 7).

    `interface` is "A" or "B", or "" for a code seen in other deployments whose interface is not
    known. `retry` is true where sending the same call again, soon, may help; a write is looked up
    first. `sure` says how sure the meaning is: "specified", "seen" or "unknown"; cause and advice
    are ours: assumed. `error` names the class that is raised for it. Of a change it says in which
    interfaces it was `not_made`, or that this is `open`; `looked` is the advice once it was looked
    up and nothing had changed. `both`: the other interface answers it in the same sense.
    """

    ret: int
    interface: str
    meaning: str
    cause: str
    advice: str
    retry: bool = False
    sure: str = "unknown"
    error: str = "ApiError"
    not_made: str = ""
    open: bool = False
    looked: str = ""
    both: bool = False


class Explanation(NamedTuple):
    """What a result code means: `meaning`, likely `cause`, next step (`advice`), whether the same
    call helps soon (`retry`), and how `sure` the meaning is: specified, seen or unknown. Cause and
    advice are confkit's own reading, that is: assumed. `codes` holds the rows it was made from."""

    ret: int | str
    interface: str | None
    meaning: str
    cause: str
    advice: str
    retry: bool
    sure: str
    codes: tuple[Code, ...]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if not self.codes:
            head = one_line(f"{self.ret}: {self.meaning}")  # a code that came as a text
            return _wrapped(head, ("what to do:", self.advice))
        return "\n".join(
            _wrapped(
                f"{code.ret}{_place(code)}: {code.meaning} ({code.sure})",
                ("likely cause:", f"{code.cause} (assumed)"),
                ("what to do:", code.advice),
                ("try again:", _again(code)),
            )
            for code in self.codes
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = self.codes or (
            Code(0, "", self.meaning, self.cause, self.advice, self.retry, self.sure),
        )
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(str(self.ret))}{_place(code)}</th>"
            f"<td style='text-align:left'><b>{escape(code.meaning)}</b> "
            f"<small>({escape(code.sure)})</small><br>{escape(code.cause)} "
            f"<small>(assumed)</small><br>&rarr; {escape(code.advice)}<br>"
            f"<small>Try again: {_again(code)}</small></td></tr>"
            for code in rows
        )
        return as_it_is(f"<table>{body}</table>")


@cache
def codes() -> tuple[Code, ...]:
    """All rows; they are read when a call is refused for the first time."""
    import tomllib
    from importlib.resources import files

    text = files(__package__).joinpath("codes.toml").read_text("utf-8")
    return tuple(Code(**row) for row in tomllib.loads(text)["code"])


def lookup(ret: int | str, interface: str | None) -> tuple[Code, ...]:
    """All that is known of a code, the specification's meaning first (section 7).

    Where the interface's own table holds the code, the other interface's meaning is left out.
    Where it does not, the other's is given, and its `interface` says so: 602 stands in A's table
    and comes from B too (section 5). `None` asks for both. An unknown code gives an empty tuple.
    """
    known = [code for code in codes() if code.ret == ret]
    if interface and any(code.interface == interface for code in known):
        known = [code for code in known if code.interface in (interface, "")]
    return tuple(sorted(known, key=lambda code: code.sure != "specified"))


def explain(ret: int | str | Exception, interface: str | None = None) -> Explanation:
    """What a result code means, its likely cause and the next step (section 7 of the interface).

    `ret` may be an error, which knows its code and interface. `interface` is "A" or "B"; without
    it, a code that means different things in A and B (401) is reported for both. A code that nobody
    knows is said to be that.
    """
    if isinstance(ret, Exception):
        code = getattr(ret, "ret", None)
        interface = interface or getattr(ret, "interface", None)
        ret = "no result code" if code is None else code
    if interface is not None:
        interface = interface.strip().upper()
        if interface not in ("A", "B"):
            raise ValueError(f"interface is {interface!r}; there are A (port 8080) and B (8050)")
    number = as_code(str(ret))
    found = lookup(number, interface)
    if not found:
        return Explanation(
            number,
            interface,
            "not a code of the interface, and none seen in other deployments",
            "The deployment uses a code of its own.",
            "Ask the provider what it means, and quote the call as client.calls shows it.",
            False,
            "unknown",
            (),
        )
    apart = len({code.interface for code in found if code.interface}) > 1

    def told(what: str) -> str:
        rows = found if apart or what == "meaning" else found[:1]  # one next step is enough
        texts = [(f"{row.interface}: " if apart else "") + getattr(row, what) for row in rows]
        return ("; " if what == "meaning" else " ").join(dict.fromkeys(texts))

    return Explanation(
        number,
        interface,
        told("meaning"),
        told("cause"),
        told("advice"),
        found[0].retry,
        found[0].sure,
        found,
    )


def as_code(text: str) -> int | str:
    """A result code that came as text: the number where it is one, otherwise the text."""
    plain = text.strip()
    digits = plain.removeprefix("-")
    return int(plain) if digits.isdecimal() and digits.isascii() and len(digits) < 19 else plain


def error_of(ret: int | str, interface: str) -> str:
    """The name of the class that is raised for a code of this interface."""
    rows = lookup(ret, interface)
    return next(
        (row.error for row in rows if row.both or row.interface in (interface, "")), "ApiError"
    )


def leaves_open(ret: int | str, interface: str, status: int) -> bool:
    """Whether a code leaves open what became of a change: a part of the service was late or broke,
    nobody knows what the code means, or the HTTP `status` says that the service failed."""
    rows = lookup(ret, interface)
    if any(interface in row.not_made for row in rows):
        return False
    first = rows[0] if rows else None
    return status >= 500 or first is None or first.retry or first.sure == "unknown" or first.open


def advice_after_look(ret: int | str | None, interface: str | None) -> str:
    """The next step once a change was looked up and nothing had changed; "" where it is the usual
    one."""
    return next((row.looked for row in lookup(ret or "", interface) if row.looked), "")


def _wrapped(head: str, *parts: tuple[str, str]) -> str:
    from textwrap import wrap

    lines = [head]
    for name, told in parts:
        lines += wrap(f"  {name:13} {told}", 88, subsequent_indent=" " * 16)
    return "\n".join(lines)


def _place(code: Code) -> str:
    return f" in interface {code.interface}" if code.interface else " (other deployments)"


def _again(code: Code) -> str:
    return "yes, in a moment" if code.retry else "no, not before something has changed"
