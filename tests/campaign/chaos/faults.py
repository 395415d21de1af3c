"""Every fault by its name: what becomes of one request, and of the connection that it came on.

A fault that asks for `line.answer()` has forwarded the request, so that a change has happened;
`UNFORWARDED` names the others, and `SLOW` those that a caller waits for until its deadline.
"""

from collections.abc import Awaitable, Callable

from . import altering, breaking, framing
from .line import Line

Fault = Callable[[Line], Awaitable[None]]


def _named(*modules: object) -> dict[str, Fault]:
    return {
        name: function
        for module in modules
        for name, function in vars(module).items()
        if not name.startswith("_")
        and getattr(function, "__module__", "") == getattr(module, "__name__", None)
    }


FAULTS: dict[str, Fault] = _named(breaking, framing, altering)
SLOW = frozenset({"late", "drip_late", "length_long_open", "head_only", "silent"})
UNFORWARDED = frozenset(
    {"reset_before", "closed_before", "silent", "html", "redirect", "http_429", "http_500",
     "http_502", "http_503", "empty", "not_http", "header_flood", "header_long", "gzip_bomb",
     "gzip_bomb_twice", "strange_status"}
)  # fmt: skip
