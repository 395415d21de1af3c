"""All that is public, found in the code itself: a new name is among them by itself."""

import argparse
import inspect
from collections.abc import Iterator
from functools import cached_property
from types import FunctionType, ModuleType

import confkit
from confkit import cli, course, panels, runbook, sandbox

MODULES = (confkit, course, runbook, sandbox, panels)
_KINDS = (FunctionType, classmethod, staticmethod)


def shown_with(kind: type) -> set[str]:
    """The public members of our class that are shown with each of its things: its properties, and
    what turns it into another form (`as_json`, `to_frame`)."""
    return {
        member
        for base in kind.__mro__
        if base.__module__.startswith("confkit")
        for member, what in vars(base).items()
        if not member.startswith("_")
        and (isinstance(what, property | cached_property) or member.startswith(("as_", "to_")))
    }


def public(module: ModuleType) -> set[str]:
    """A module's public names, and the methods of its classes by the class, ours, that defines
    them, but for those that are shown with it: `get_room`, `Client.send`, `Panel.cancel`."""
    found = set()
    for name in module.__all__:
        found.add(name)
        thing = getattr(module, name)
        for kind in thing.__mro__ if inspect.isclass(thing) else ():
            if kind.__module__.startswith("confkit"):
                found |= {
                    f"{kind.__name__}.{member}"
                    for member, what in vars(kind).items()
                    if not member.startswith("_")
                    and isinstance(what, _KINDS)
                    and member not in shown_with(kind)
                }
    return found


def everything() -> set[str]:
    """All public names of the library."""
    return set().union(*map(public, MODULES))


def commands() -> set[str]:
    """All commands of `confkit`, such as `profile add`."""
    return {" ".join(words) for words in _leaves(cli._parser())}


def _leaves(parser: argparse.ArgumentParser, before: tuple[str, ...] = ()) -> Iterator[tuple]:
    inner = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    for action in inner:
        for name, part in action.choices.items():
            yield from _leaves(part, (*before, name))
    if not inner:
        yield before
