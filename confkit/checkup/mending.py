"""How a setting of the dialect that turned out wrong is set right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .case import Case


def told(changed: dict[str, str]) -> str:
    """The settings as they are named in a verdict."""
    return f"dialect {_line(changed)}"


def set_dialect(case: Case, changed: dict[str, str]) -> str:
    """The next step that brings these settings into the client's dialect, beside what it holds and
    what turned out wrong before; the checks that follow go on with them."""
    case.changed |= changed
    settings = {**case.client.dialect.changes(), **case.changed}
    case.client.dialect = replace(case.client.dialect, **changed)
    case.settled = True
    arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    environment = f"CONFKIT_DIALECT={_line(settings)}, or set " if _in_environment(case) else ""
    return (
        f"Set {environment}it in the profile (confkit profile add NAME --dialect "
        f"{_line(settings)}), or connect with dialect=ck.Dialect({arguments}). The checks that "
        "follow go on with it; confkit probe finds out the rest of the dialect."
    )


def _in_environment(case: Case) -> bool:
    """Whether settings came from the environment, and its dialect would count too."""
    origins = case.client.origins
    names = ("base_url", "outgoing_url", "access_key", "secret_key", "dialect")
    came = [origins.get(name, "").startswith("CONFKIT_") for name in names]
    return any(came) and origins.get("dialect") != "argument"


def _line(settings: dict[str, object] | dict[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items())
