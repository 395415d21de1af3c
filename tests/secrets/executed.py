"""Runbooks that run in a kernel, and sweeps on a cluster: what they save, report and log."""

import json
from datetime import UTC, datetime
from pathlib import Path

import confkit as ck
from confkit.runbook import library
from confkit.runbook.report import render
from confkit.runbook.running import run
from tests.secrets.children import environment
from tests.secrets.worlds import World


def runbooks() -> list[str]:
    """The names of all runbooks."""
    return sorted(one.name for one in library.stored())


def reported(world: World, name: str) -> str:
    """A runbook of this service, executed: its notebook as it would be saved, its checks and its
    report; the arguments of its kernel's process too."""
    stored = library.find(name)
    told: list[str] = []
    inputs = {"room": world.room_id} if "room" in stored.inputs else {}
    arguments: list[str] = []

    def tell(check: object) -> None:
        told.append(repr(check))
        arguments[:] = _of_kernels()

    done = run(stored.path, inputs, environment(world), 60.0, tell)
    when = datetime(2026, 6, 3, tzinfo=UTC)
    page = render(done, name, "the service", when, (world.marks["secret_key"],))
    checks = f"{done.checks!r} {done.checks.as_json()} {told}"
    return f"{json.dumps(done.notebook)} {checks} {page} {arguments}"


def _of_kernels() -> list[str]:
    """The arguments of every kernel's process that we may read."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text()
        except OSError:
            continue
        if "ipykernel" in words:
            found.append(words)
    return found


def clustered(world: World) -> str:
    """What a cluster of Dask's logs of a sweep that fails in part, its tasks, and the sweep."""
    import dask
    from distributed import Client, LocalCluster

    quiet = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.admin.log-length": 1000,
        "logging.distributed": "debug",
    }
    with (
        dask.config.set(quiet),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=False,
        ) as cluster,
        Client(cluster) as client,
    ):
        keys: list[object] = []
        executor = client.get_executor()
        submit = executor.submit

        def kept(*given: object, **options: object) -> object:
            future = submit(*given, **options)
            keys.append(f"{given!r} {options!r} {client.futures!r}")
            return future

        executor.submit = kept
        sweep = ck.sweep(
            world.client, [world.room_id, "no-such"], progress=False, executor=executor
        )
        logs = client.get_worker_logs(), client.get_scheduler_logs(), cluster.get_logs()
        failures = [repr(failure) for failure in sweep.failures]
        return f"{logs} {keys} {sweep!r} {failures} {sweep.frame().to_csv()}"
