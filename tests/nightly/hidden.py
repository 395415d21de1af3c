"""No secret shows, in whatever world and order all that is public is driven."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from unittest import mock

import dask
from distributed import Client, LocalCluster

import confkit as ck
from confkit.runbook import library
from tests.secrets import commanded, drives, processes
from tests.secrets.given import driven
from tests.secrets.surfaces import MODES
from tests.secrets.worlds import WORLDS, World, world

from .piece import Piece

ELSEWHERE = {**drives.CONFKIT, **drives.MISTAKES, **drives.PANELS, **commanded.TYPED}
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


def processes_of_all_kinds(piece: Piece) -> None:
    """Children: a sandbox, pytest, IPython in all its modes, a cluster, runbooks in kernels."""
    kinds: list[tuple[str, Callable[[World], str]]] = [
        ("good", processes.served),
        ("good", processes.assertions),
        ("code", lambda made: processes.program(made, MODES)),
        ("sandbox", clustered),
    ]
    for book in library.stored():
        given = " -p room=ROOM" * ("room" in book.inputs)
        run = partial(reported, words=f"{book.name} --report REPORT{given}")
        kinds += [("sandbox", run), ("code", run)]
    for name, run in kinds[: piece.size]:
        with _alone(piece, name) as made:
            made.client.token()
            piece.count("processes")
            if found := made.shown(run(made)):
                piece.broke("secrets shown", name, found)


def reported(world: World, words: str) -> str:
    """What a runbook prints that runs in a kernel, and its report."""
    done = commanded.typed(world, "runbook", words)
    return done.stdout + done.stderr + (world.folder / "report.html").read_text("utf-8")


def clustered(world: World) -> str:
    """What a cluster of Dask's logs of a sweep that fails in part, its tasks, and the sweep."""
    quiet = {"distributed.admin.log-length": 1000, "logging.distributed": "debug"}
    own = {"dashboard_address": ":0", "silence_logs": False}
    with (
        dask.config.set(quiet),
        LocalCluster(n_workers=1, threads_per_worker=1, **own) as cluster,
        Client(cluster) as client,
    ):
        rooms, executor = [world.room_id, "no-such"], client.get_executor()
        sweep = ck.sweep(world.client, rooms, progress=False, executor=executor)
        logs = client.get_worker_logs(), client.get_scheduler_logs(), cluster.get_logs()
        tasks = list(cluster.scheduler.transition_log)
        return f"{logs} {tasks} {sweep!r} {[*map(repr, sweep.failures)]} {sweep.frame().to_csv()}"
