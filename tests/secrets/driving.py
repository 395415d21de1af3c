"""Drives many things in one world, and says what showed a secret."""

from collections.abc import Callable, Container, Mapping
from typing import Any

from tests.secrets import surfaces
from tests.secrets.marks import Marks
from tests.secrets.worlds import World


def driven(
    world: World,
    drives: Mapping[str, Callable[[World], Any]],
    may_fail: Container[str] = (),
    modes: Callable[[], tuple[str, ...]] = tuple,
    also: Callable[[BaseException | None], str] = lambda failure: "",
) -> dict[str, list[str]]:
    """What is wrong, by the name of the drive: secrets that showed, and what was to work and did
    not. `modes` gives the modes of IPython in which the next traceback is looked at, `also` what
    else was recorded of a drive and of its failure."""
    wrong = {}
    seen: set[int] = set()
    kept = []  # so that a number stands for one call only
    marks, tokens = world.marks, []
    for name, drive in drives.items():
        shown = surfaces.Shown()
        failure = surfaces.drive(shown, lambda drive=drive: drive(world), modes())
        shown.add("recorded by others", also(failure))
        calls = [call for call in world.client.calls if id(call) not in seen]
        surfaces.calls(shown, world.client, calls)
        kept += calls
        seen |= set(map(id, calls))
        token = world.client._token.held
        if not any(token is one for one in tokens):
            tokens.append(token)
            marks = _joined(marks, world.marks.with_those_of(world.client))
        if found := shown.secrets(marks):
            wrong[name] = found
        if world.well and failure is not None and name not in may_fail:
            wrong.setdefault(name, []).append(f"was to work: {type(failure).__name__}: {failure}")
    return wrong


def _joined(before: Marks, now: Marks) -> Marks:
    """Tokens that were let go of stay secret."""
    more = {role: (*before.more.get(role, ()), *cores) for role, cores in now.more.items()}
    return Marks(now.values, {**before.more, **more})
