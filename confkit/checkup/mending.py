"""How a setting of the dialect that turned out wrong is set right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .case import Case


def told(changed: dict[str, str]) -> str:
    """The settings as they are named in a verdict."""
    return f"dialect {_line(changed)}"


def set_dialect(case: Case, changed: dict[str, str]) -> str:
    """The next step that brings these settings into the client's dialect, beside what it holds."""
    settings = {**case.client.dialect.changes(), **changed}
    arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    return (
        f"Set it in the profile (confkit profile add NAME --dialect {_line(settings)}), or connect "
        f"with dialect=ck.Dialect({arguments}). confkit probe finds out the rest of the dialect."
    )


def _line(settings: dict[str, object] | dict[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items())
