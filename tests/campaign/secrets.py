"""No secret shows: marked ones are driven through all that is public and looked for."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest import mock

from tests.secrets import (
    children,
    commanded,
    drives,
    driving,
    executed,
    panelled,
    steered,
    surfaces,
)
from tests.secrets.worlds import WORLDS, World, world

from .frame import Counts, Part, Piece

SHOWN = "secrets shown"
_PLACES = {
    **panelled.PANELS, **steered.RUNBOOK, **steered.SANDBOX, **steered.COURSE,
    **steered.SANDBOX_MISTAKES, **steered.RUNBOOK_MISTAKES,
}  # fmt: skip


def functions(piece: Piece) -> Counts:
    """Public functions, records and errors of one world, in any order, IPython's tracebacks too."""
    return _driven(piece, {**drives.DRIVES, **drives.MISTAKES}, WORLDS)


def places(piece: Piece) -> Counts:
    """Panels, runbooks, exercises and the sandbox where all is well; panels also elsewhere."""
    name = WORLDS[piece.number % len(WORLDS)]
    return _driven(piece, _PLACES if name == "sandbox" else panelled.PANELS, WORLDS)


def _driven(piece: Piece, known: Mapping[str, drives.Drive], names: tuple[str, ...]) -> Counts:
    chance = piece.chance("order")
    chosen = chance.sample(sorted(known), min(piece.size, len(known)))
    name = names[piece.number % len(names)]

    def modes() -> tuple[str, ...]:
        return (chance.choice(surfaces.MODES),)

    with _alone(piece) as folder, world(name, folder, piece.chance("marks")) as made:
        wrong = driving.driven(made, {one: known[one] for one in chosen}, drives.DUE, modes)
    return _kept(
        piece, "calls", len(chosen), {f"{name}: {one}": told for one, told in wrong.items()}
    )


def commands(piece: Piece) -> Counts:
    """Commands typed rightly and wrongly, of one world."""
    known = [(command, words) for command, ways in commanded.COMMANDS.items() for words in ways]
    chosen = piece.chance("order").sample(known, min(piece.size, len(known)))
    name = WORLDS[piece.number % len(WORLDS)]
    wrong = {}
    with _alone(piece) as folder, world(name, folder, piece.chance("marks")) as made:
        for command, words in chosen:
            said, _ = commanded.typed(made, command, words)
            if found := made.all_marks().found(said):
                wrong[f"{name}: {command} {words}"] = found
        for path, text in commanded.written(made).items():
            if found := made.all_marks().found(text):
                wrong[path] = found
    return _kept(piece, "calls", len(chosen), wrong)


def processes(piece: Piece) -> Counts:
    """Children: pytest, IPython in all its modes, a sandbox, runbooks in kernels, a cluster."""
    kinds: list[tuple[str, str, Callable[[World], str]]] = [
        ("confkit sandbox", "good", commanded.served),  # the first is the cheapest
        ("IPython", "code", lambda made: children.program(made, surfaces.MODES)),
        ("pytest", "good", children.assertions),
        ("Dask", "sandbox", executed.clustered),
        *((f"runbook {one}", "sandbox", lambda made, one=one: executed.reported(made, one))
          for one in executed.runbooks()),
        *((f"runbook {one}, answers", "code", lambda made, one=one: executed.reported(made, one))
          for one in executed.runbooks()),
    ]  # fmt: skip
    wrong = {}
    for kind, name, run in kinds[: piece.size]:
        with _alone(piece) as folder, world(name, folder, piece.chance(kind)) as made:
            made.client.token()
            if found := made.all_marks().found(run(made)):
                wrong[kind] = found
    return _kept(piece, "processes", len(kinds[: piece.size]), wrong)


class _alone:  # noqa: N801  # used as a function
    """A folder of this run, in which the settings of the user are not seen."""

    def __init__(self, piece: Piece) -> None:
        self._folder = piece.folder / f"files-{time.monotonic_ns()}"
        given = {
            "XDG_CONFIG_HOME": str(self._folder),
            "CONFKIT_COURSE": str(self._folder / "c.jsonl"),
        }
        self._patch = mock.patch.dict(os.environ, given)

    def __enter__(self) -> Path:
        self._folder.mkdir(parents=True)
        self._patch.start()
        return self._folder

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


def _kept(piece: Piece, unit: str, done: int, wrong: Mapping[str, list[str]]) -> Counts:
    """The counts, once a line about each secret that showed is kept beside them."""
    lines = [f"{where}: {told}" for where, all_told in wrong.items() for told in all_told
             if not told.startswith("was to work")]  # fmt: skip
    for line in lines:
        piece.broke(line)
    return {unit: done, SHOWN: len(lines)}


PARTS = (
    Part(
        name="secrets-functions",
        promise="No function, record or error shows a secret, whatever a service answers and in "
        "every kind of traceback.",
        unit="calls", run=functions, pieces=2 * len(WORLDS), size=200, short=12, never=(SHOWN,),
    ),
    Part(
        name="secrets-places",
        promise="No panel, saved notebook, runbook, exercise or sandbox shows a secret.",
        unit="calls", run=places, pieces=len(WORLDS), size=200, short=6, never=(SHOWN,),
    ),
    Part(
        name="secrets-commands",
        promise="No command prints, logs or writes a secret, whatever is typed.",
        unit="calls", run=commands, pieces=len(WORLDS), size=60, short=5, never=(SHOWN,),
    ),
    Part(
        name="secrets-processes",
        promise="No traceback of IPython, assertion of pytest, report of a runbook, log of a "
        "worker or argument of a process shows a secret.",
        unit="processes", run=processes, pieces=2, size=40, short=1, never=(SHOWN,),
    ),
)  # fmt: skip
