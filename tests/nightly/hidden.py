"""No secret shows, in whatever world and order all that is public is driven."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from tests.secrets import children, commanded, drives, driving, executed, panelled, steered
from tests.secrets.surfaces import MODES
from tests.secrets.worlds import WORLDS, World, world

from .piece import Piece

ALL = {
    **drives.DRIVES,
    **drives.MISTAKES,
    **panelled.PANELS,
    **steered.RUNBOOK,
    **steered.SANDBOX,
    **steered.COURSE,
    **steered.SANDBOX_MISTAKES,
    **steered.RUNBOOK_MISTAKES,
}
ELSEWHERE = {**drives.DRIVES, **drives.MISTAKES, **panelled.PANELS}


@contextmanager
def _alone(piece: Piece, name: str) -> Iterator[World]:
    """A world in which the settings of the user are not seen."""
    folder = piece.folder / f"files {len([*piece.folder.iterdir()])}"
    folder.mkdir()
    own = {"XDG_CONFIG_HOME": str(folder), "CONFKIT_COURSE": str(folder / "course.jsonl")}
    with mock.patch.dict(os.environ, own), world(name, folder, piece.chance("marks")) as made:
        yield made


def secrets(piece: Piece) -> None:
    """So many drives and commands of one world, in any order."""
    name, chance = WORLDS[piece.number % len(WORLDS)], piece.chance("order")
    known = ALL if name == "sandbox" else ELSEWHERE
    typed = [(one, words) for one, ways in commanded.COMMANDS.items() for words in ways]
    with _alone(piece, name) as made:
        chosen = chance.sample(sorted(known), min(piece.size, len(known)))
        wrong = driving.driven(
            made,
            {one: known[one] for one in chosen},
            modes=lambda: (chance.choice(MODES),),
            strict=False,
        )
        for command, words in chance.sample(typed, min(piece.size // 4, len(typed))):
            said, _ = commanded.typed(made, command, words)
            wrong[f"{command} {words}"] = made.all_marks().found(said)
        for path, text in commanded.written(made).items():
            wrong[path] = made.all_marks().found(text)
        piece.count("drives", len(wrong) and len(chosen))
    for where, told in wrong.items():
        if told:
            piece.broke("secrets shown", f"{name}: {where}", told)


def processes(piece: Piece) -> None:
    """Children: a sandbox, pytest, IPython in all its modes, a cluster, runbooks in kernels."""
    kinds: list[tuple[str, Callable[[World], str]]] = [
        ("good", commanded.served),
        ("good", children.assertions),
        ("code", lambda made: children.program(made, MODES)),
        ("sandbox", executed.clustered),
        *(
            (name, lambda made, one=one: executed.reported(made, one))
            for one in executed.runbooks()
            for name in ("sandbox", "code")
        ),
    ]
    for name, run in kinds[: piece.size]:
        with _alone(piece, name) as made:
            made.client.token()
            piece.count("processes")
            if found := made.all_marks().found(run(made)):
                piece.broke("secrets shown", name, found)
