"""Runs a runbook headless: nbclient runs its cells, and each check is handed over as it comes."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from ..checks import Check, Checklist
from ..interrupts import OTHERS, handled, held_off
from ..secret import redact
from .book import CHECK
from .inputs import HEADLESS

ENDED = "the runbook's end"
ENDING = 20.0  # seconds for an interrupted cell to undo what it does
UNBEGUN = "it was interrupted before its first cell"


@dataclass(frozen=True)
class Run:
    """A run of a runbook: its `checks`, and the executed `notebook` (of nbformat; None when it
    was interrupted before that was read). When it did not run to its end the last check says why,
    and its verdict is UNKNOWN."""

    checks: Checklist
    notebook: Any


def run(
    path: Path,
    inputs: Mapping[str, object],
    environment: Mapping[str, str],
    seconds: float,
    tell: Callable[[Check], object],
) -> Run:
    """Run the notebook in a kernel with this environment and these inputs.

    Each cell may take so many `seconds`. `tell` is called with each check as it comes. When a cell
    breaks, takes too long or is interrupted (Ctrl-C), those tagged `always` are run nonetheless.
    A second Ctrl-C ends all that at once. The kernel is ended in every case. The last check names
    the first cause first, then what else broke.
    """
    checks: list[Check] = []
    causes: list[str] = []
    notebook = None

    def took(check: Check) -> None:
        checks.append(check)
        tell(check)

    try:
        import nbformat  # it takes a while, in which Ctrl-C can come

        stored = nbformat.read(path, as_version=4)
        _give(stored, inputs)
        notebook = stored
    except KeyboardInterrupt:
        causes.append(UNBEGUN)
    else:
        watched = _Watched(notebook, timeout=None, coalesce_streams=True, store_widget_state=False)
        watched.took = took
        asyncio.run(_play(watched, environment, seconds, causes))
    if causes:
        text, advice = "; then ".join(causes), "Run it again: the rest was not checked."
        took(Check(ENDED, "UNKNOWN", text, advice))
    return Run(Checklist(checks), notebook)


def _give(notebook: Any, inputs: Mapping[str, object]) -> None:
    """Remove the stored outputs, which are of another run, and put a cell with the inputs after the
    one tagged `parameters`, as papermill does."""
    from nbformat.v4 import new_code_cell

    for place, cell in reversed(list(enumerate(notebook.cells, 1))):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if inputs and "parameters" in cell.metadata.get("tags", []):
            lines = ["# Given", *(f"{name} = {value!r}" for name, value in inputs.items())]
            tags = {"tags": ["injected-parameters"]}
            notebook.cells.insert(place, new_code_cell("\n".join(lines), metadata=tags))


class _Watched(NotebookClient):
    """A client that hands over each check that an output holds, as it comes."""

    took: Callable[[Check], None]

    def output(self, outs: Any, msg: Any, display_id: Any, cell_index: int) -> Any:
        """As nbclient does."""
        data = msg["content"].get("data", {})
        if CHECK in data:
            self.took(Check(**json.loads(data[CHECK])))
        return super().output(outs, msg, display_id, cell_index)


async def _play(
    client: _Watched, environment: Mapping[str, str], seconds: float, causes: list[str]
) -> None:
    """Run the cells in a kernel of this Python, in this folder, and note what kept them from their
    end. Ctrl-C, SIGTERM or SIGHUP interrupts the cell that runs; a second one ends all. The kernel
    has settings of its own, so that no start-up file of a user changes what a runbook does."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    stopped = loop.create_future()

    def stop() -> None:
        if not stopped.done():
            stopped.set_result(None)
        elif task is not None:
            task.cancel()

    with (
        tempfile.TemporaryDirectory(prefix="confkit-") as folder,
        handled((signal.SIGINT, *OTHERS), lambda *_: loop.call_soon_threadsafe(stop)),
    ):
        files = Path(folder)
        client.km = manager = AsyncKernelManager(
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),  # none of another Python
            connection_file=str(files / "kernel.json"),
        )
        if sys.platform != "win32":
            manager.transport, manager.ip = "ipc", str(files / "kernel")
        own = {**environment, "IPYTHONDIR": str(files / "ipython"), HEADLESS: "1"}
        try:
            await manager.start_kernel(env=own, stdout=DEVNULL, stderr=DEVNULL)
            await client.async_start_new_kernel_client()
            if stopped.done():
                causes.append(UNBEGUN)
            else:
                await _cells(client, manager, seconds, stopped, causes)
        except asyncio.CancelledError:
            causes.append("it was interrupted, and what it has to undo may not be undone")
        except DeadKernelError:
            causes.append("its kernel died; look at the memory of this machine and run it again")
        except RuntimeError as error:  # what jupyter_client raises for one that does not start
            causes.append(f"its kernel did not start ({redact(str(error))})")
        finally:
            with held_off():
                if client.kc is not None:
                    client.kc.stop_channels()
                await manager.shutdown_kernel(now=True)


async def _cells(
    client: _Watched,
    manager: Any,
    seconds: float,
    stopped: asyncio.Future[None],
    causes: list[str],
) -> None:
    for place, cell in enumerate(client.nb.cells):
        if causes and "always" not in cell.metadata.get("tags", []):
            continue
        running = asyncio.ensure_future(_broken(client, cell, place))
        waits: list[asyncio.Future[Any]] = [running] if stopped.done() else [running, stopped]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                causes += running.result()
                continue
            late = f"cell {place + 1} took longer than {seconds:g} s"
            interrupted = stopped in waits and stopped.done()
            causes.append(f"it was interrupted in cell {place + 1}" if interrupted else late)
            await manager.interrupt_kernel()
            await asyncio.wait([running], timeout=ENDING)
        finally:
            running.cancel()


async def _broken(client: _Watched, cell: Any, place: int) -> list[str]:
    """Run one cell, unless it is text; return what broke it, if anything."""
    try:
        await client.async_execute_cell(cell, place)
    except CellExecutionError as error:
        return [f"cell {place + 1} broke: {redact(f'{error.ename}: {error.evalue}')}"]
    return []
