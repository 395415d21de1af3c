"""No secret shows, in whatever world and order all that is public is driven."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from tests.secrets import drives
from tests.secrets.drives import driven
from tests.secrets.surfaces import MODES
from tests.secrets.worlds import WORLDS, World, world

from .piece import Piece

ELSEWHERE = {**drives.CONFKIT, **drives.MISTAKES, **drives.PANELS, **drives.TYPED}
ALL = {**ELSEWHERE, **drives.RUNBOOK, **drives.SANDBOX, **drives.COURSE}


@contextmanager
def _alone(piece: Piece, name: str) -> Iterator[World]:
    """A world in which the settings of the user are not seen."""
    folder = piece.folder / f"files {len([*piece.folder.iterdir()])}"
    folder.mkdir()
    own = {"XDG_CONFIG_HOME": str(folder)}
    with mock.patch.dict(os.environ, own), world(name, folder, piece.chance("marks")) as made:
        yield made


def secrets(piece: Piece) -> None:
    """So many drives of one world, in any order."""
    name, chance = WORLDS[piece.number % len(WORLDS)], piece.chance("order")
    known = ALL if name == "sandbox" else ELSEWHERE
    with _alone(piece, name) as made:
        asked = dict(chance.sample(sorted(known.items()), min(piece.size, len(known))))
        piece.count("drives", len(asked))
        wrong = driven(made, asked, modes=lambda: (chance.choice(MODES),), strict=False)
    for where, told in wrong.items():
        piece.broke("secrets shown", f"{name}: {where}", told)
