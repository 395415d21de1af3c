"""Rooms, users and devices of a conferencing service, as functions, DataFrames and notebooks.

import confkit as ck
client = ck.connect("sandbox")
room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=25)
ck.rooms_frame([ck.get_room(client, room_id)])
"""

import re
from importlib import import_module
from pathlib import Path

# At once, because its module bears its name: imported later, that would take the function's place.
from .connect import connect as connect

__version__ = "0.1.0"


def _modules() -> dict[str, str]:
    """The module of each public name, as the stub beside this file says."""
    stub = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    imports = re.findall(r"^from (\S+) import ([^(\n]+|\([^)]+)", stub, re.MULTILINE)
    return {name: module for module, names in imports for name in re.findall(r"\w+", names)}


_MODULES = _modules()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: `import confkit` stays quick."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
