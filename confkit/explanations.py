"""`explain`: what a result code means, what likely caused it, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .text import as_it_is, one_line

if TYPE_CHECKING:
    from .codes import Code


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

        from .codes import Code

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


def explain(ret: int | str | Exception, interface: str | None = None) -> Explanation:
    """What a result code means, its likely cause and the next step (section 7 of the interface).

    `ret` may be an error, which knows its code and interface. `interface` is "A" or "B"; without
    it, a code that means different things in A and B (401) is told for both. A code that nobody
    knows is told to be that.
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
    from .codes import lookup

    found = lookup(number, interface) if isinstance(number, int) else ()
    if not found:
        return Explanation(
            number, interface, "not a code of the interface, and none seen in other deployments",
            "The deployment uses a code of its own.",
            "Ask the provider what it means, and quote the call as client.calls shows it.",
            False, "unknown", (),
        )  # fmt: skip
    apart = len({code.interface for code in found if code.interface}) > 1

    def told(what: str) -> str:
        rows = found if apart or what == "meaning" else found[:1]  # one next step is enough
        texts = [(f"{row.interface}: " if apart else "") + getattr(row, what) for row in rows]
        return ("; " if what == "meaning" else " ").join(dict.fromkeys(texts))

    return Explanation(
        number, interface, told("meaning"), told("cause"), told("advice"),
        found[0].retry, found[0].sure, found,
    )  # fmt: skip


def as_code(text: str) -> int | str:
    """A result code that came as text: the number where it is one, otherwise the text."""
    plain = text.strip()
    digits = plain.removeprefix("-")
    return int(plain) if digits.isdecimal() and digits.isascii() and len(digits) < 19 else plain
