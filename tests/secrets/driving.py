"""Drives many things in one world, and says what showed a secret, and what did not happen."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

import confkit as ck
from confkit.rtsp.report import Report
from tests.secrets import surfaces
from tests.secrets.drives import ASKING, Due
from tests.secrets.marks import Marks
from tests.secrets.panelled import Widget
from tests.secrets.worlds import World


def driven(
    world: World,
    drives: Mapping[str, Callable[[World], Any]],
    due: Mapping[str, Due] | None = None,
    modes: Callable[[], tuple[str, ...]] = tuple,
    also: Callable[[BaseException | None], str] = lambda failure: "",
    strict: bool = True,
) -> dict[str, list[str]]:
    """What is wrong, by the name of the drive: secrets that showed, and what did not do what it was
    to do. Where all is well that is what is `due`, or to work; elsewhere to end with a result or an
    error of ours. `modes` gives the modes of IPython in which the next traceback is looked at,
    `also` what else was recorded of a drive and of its failure. Without `strict`, as where drives
    come in any order and undo each other's work, only secrets count."""
    wrong: dict[str, list[str]] = {}
    seen: set[int] = set()
    kept = []  # so that a number stands for one call only
    marks, tokens = world.marks, []
    for name, drive in drives.items():
        shown, before = surfaces.Shown(), world.heard()
        result, failure = surfaces.drive(shown, lambda drive=drive: drive(world), modes())
        shown.add("recorded by others", also(failure))
        calls = [call for call in world.client.calls if id(call) not in seen]
        surfaces.calls(shown, world.client, calls)
        kept += calls
        seen |= set(map(id, calls))
        token = world.client._token.held
        if not any(token is one for one in tokens):
            tokens.append(token)
            marks = _joined(marks, world.marks.with_those_of(world.client))
        told = shown.secrets(marks)
        if not strict:
            pass
        elif world.well:
            told += amiss(result, failure, (due or {}).get(name))
        elif failure is not None and not isinstance(failure, ck.ConfkitError):
            told.append(f"{type(failure).__name__} is no error of ours: {failure}")
        elif name in ASKING and world.heard() == before:
            told.append("never asked the service")
        if told:
            wrong[name] = told
    return wrong


def amiss(result: Any, failure: BaseException | None, due: Due | None) -> list[str]:
    """Why this is not what a drive was to come to, if it is not."""
    if inspect.isclass(due) and issubclass(due, BaseException):
        fine = type(failure) is due
    elif failure is not None:
        fine = False
    else:
        fine = bool(due(result)) if due else worked(result)
    what = f"{type(failure).__name__}: {failure}" if failure is not None else repr(result)[:300]
    return [] if fine else [f"did not do what it was to do, but gave {what}"]


def worked(result: Any) -> bool:
    """Whether a result says that it worked: something came, and no part of it failed."""
    if isinstance(result, Widget):
        return not result.failures and (result.result is None or worked(result.result))
    if isinstance(result, Report | ck.Checklist):
        return bool(result.ok)
    if isinstance(result, str | list | tuple | dict | pd.DataFrame):
        return len(result) > 0
    return not inspect.isroutine(result)


def _joined(before: Marks, now: Marks) -> Marks:
    """Tokens that were let go of stay secret."""
    more = {role: (*before.more.get(role, ()), *cores) for role, cores in now.more.items()}
    return Marks(now.values, {**before.more, **more})
