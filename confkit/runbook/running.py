"""Runs a runbook without anybody before it, and says what came of it; nbclient runs its cells."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from ..checklist import Check, Checklist
from ..many.interrupts import OTHERS, handled
from ..secret import mask
from .inputs import HEADLESS
from .showing import CHECK, VERDICT

ENDED = "the runbook's end"
ENDING = 20.0  # seconds for an interrupted cell to undo what it does


@dataclass(frozen=True)
class Run:
    """What came of a runbook: its `checks`, and the executed `notebook` (of nbformat; None when it
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
    """What came of the notebook, run in a kernel with this environment and these inputs.

    Each cell may take so many `seconds`. `tell` is called with each check as it comes. When a cell
    breaks, takes too long or is interrupted (Ctrl-C), those tagged `always` are run nonetheless.
    A second Ctrl-C ends all that at once. The kernel is ended in every case. The last check names
    the first cause first, then what else broke.
    """
    notebook, found = None, _Found(tell)
    try:
        import nbformat  # it takes a while, in which Ctrl-C can come

        stored = nbformat.read(path, as_version=4)
        _give(stored, inputs)
        notebook = stored
    except KeyboardInterrupt:
        found.causes.append("it was interrupted before its first cell")
    else:
        asyncio.run(_Played(notebook, found, environment, seconds).play())
    if not found.causes and found.verdict is None:
        found.causes.append("its last cell gave no verdict; a runbook ends with book.verdict()")
    checks = found.came if found.verdict is None else found.verdict
    if found.causes:
        told = "; then ".join(found.causes)
        checks = [*checks, Check(ENDED, "UNKNOWN", told, "Run it again: the rest was not checked.")]
        tell(checks[-1])
    return Run(Checklist(checks), notebook)


def _give(notebook: Any, inputs: Mapping[str, object]) -> None:
    """Take the stored outputs away, which are of no run here, and put a cell with the inputs after
    the one tagged `parameters`, as papermill does."""
    from nbformat.v4 import new_code_cell

    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    source = "\n".join(f"{name} = {value!r}" for name, value in inputs.items())
    if not source:
        return
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    place = next(index for index, names in enumerate(tags, 1) if "parameters" in names)
    cell = new_code_cell(f"# Given\n{source}", metadata={"tags": ["injected-parameters"]})
    notebook.cells.insert(place, cell)


@dataclass
class _Found:
    """The checks that came, those of the verdict once it is given, and what went wrong."""

    tell: Callable[[Check], object]
    came: list[Check] = field(default_factory=list)
    verdict: list[Check] | None = None
    causes: list[str] = field(default_factory=list)

    def take(self, data: Mapping[str, str]) -> None:
        """Take in what an output holds."""
        if CHECK in data:
            self.came.append(Check(**json.loads(data[CHECK])))
            self.tell(self.came[-1])
        if VERDICT in data:
            self.verdict = [Check(**one) for one in json.loads(data[VERDICT])["checks"]]


class _Watched(NotebookClient):
    """A client that hands over what each output holds, as it comes."""

    def __init__(self, notebook: Any, take: Callable[[Mapping[str, str]], None], **options: Any):
        super().__init__(notebook, **options)
        self._take = take

    def output(self, outs: Any, msg: Any, display_id: Any, cell_index: int) -> Any:
        """As nbclient does."""
        self._take(msg["content"].get("data", {}))
        return super().output(outs, msg, display_id, cell_index)


class _Played:
    """One run of a notebook's cells. Ctrl-C, SIGTERM or SIGHUP interrupts the cell that runs; a
    second one ends all."""

    def __init__(
        self, notebook: Any, found: _Found, environment: Mapping[str, str], seconds: float
    ) -> None:
        self._notebook, self._found = notebook, found
        self._environment, self._seconds = environment, seconds

    async def play(self) -> None:
        """Run the cells, and note what kept them from their end."""
        loop, causes = asyncio.get_running_loop(), self._found.causes
        self._stop, self._begun, self._over = asyncio.Event(), False, False
        task = asyncio.current_task()

        def end() -> None:
            if task is None or self._over:
                return
            if self._stop.is_set() or not self._begun:
                task.cancel()
            self._stop.set()

        try:
            endings = (signal.SIGINT, *OTHERS)
            with handled(endings, lambda *_: loop.call_soon_threadsafe(end)):
                async with self._kernel() as client:
                    await self._cells(client)
        except asyncio.CancelledError:
            undone = ", and what it has to undo may not be undone"
            causes.append(
                f"it was interrupted{undone if self._begun else ' before its first cell'}"
            )
        except DeadKernelError:
            causes.append("its kernel died; look at the memory of this machine and run it again")
        except RuntimeError as error:  # what jupyter_client raises for one that does not start
            causes.append(f"its kernel did not start ({mask(str(error))})")

    @asynccontextmanager
    async def _kernel(self) -> AsyncIterator[_Watched]:
        """A kernel of this Python, in this folder; it has settings of its own, so that no start-up
        file of a user changes what a runbook does."""
        from jupyter_client.kernelspec import KernelSpecManager
        from jupyter_client.manager import AsyncKernelManager

        with tempfile.TemporaryDirectory(prefix="confkit-") as folder:
            files = Path(folder)
            manager = self._manager = AsyncKernelManager(
                kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),  # none of another Python
                connection_file=str(files / "kernel.json"),
            )
            if sys.platform != "win32":
                manager.transport, manager.ip = "ipc", str(files / "kernel")
            client = _Watched(
                self._notebook,
                self._found.take,
                km=manager,
                timeout=None,
                coalesce_streams=True,
                store_widget_state=False,
            )
            own = {"IPYTHONDIR": str(files / "ipython"), HEADLESS: "1"}
            with (files / "log").open("wb") as log:
                try:
                    await manager.start_kernel(
                        env={**self._environment, **own}, stdout=log, stderr=log
                    )
                    await client.async_start_new_kernel_client()
                    yield client
                finally:
                    self._over = True
                    if client.kc is not None:
                        client.kc.stop_channels()
                    await manager.shutdown_kernel(now=True)

    async def _cells(self, client: _Watched) -> None:
        for place, cell in enumerate(self._notebook.cells):
            if cell.cell_type != "code":
                continue
            if not self._found.causes or "always" in cell.metadata.get("tags", []):
                self._begun = True
                why = await self._cell(client, cell, place)
                self._found.causes += [why] if why else []

    async def _cell(self, client: _Watched, cell: Any, place: int) -> str:
        """What kept one cell from its end, "" when nothing did."""
        where = f"cell {place + 1}"
        running = asyncio.ensure_future(client.async_execute_cell(cell, place))
        stopped = [] if self._stop.is_set() else [asyncio.ensure_future(self._stop.wait())]
        try:
            await asyncio.wait(
                [running, *stopped], timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if running.done():
                running.result()
                return ""
            interrupted = any(one.done() for one in stopped)
            await self._manager.interrupt_kernel()
            await asyncio.wait([running], timeout=ENDING)
            if interrupted:
                return f"it was interrupted in {where}"
            return f"{where} took longer than {self._seconds:g} s"
        except CellExecutionError as error:
            return f"{where} broke: {mask(f'{error.ename}: {error.evalue}')}"
        finally:
            for task in (running, *stopped):
                task.cancel()
