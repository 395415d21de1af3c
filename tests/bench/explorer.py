"""RoomExplorer with ever more rooms, beside itables and DataFrame.to_html with the same frame.

Aims: the first rows in 0.3 s, a filter in 0.1 s. The kernel's times need no browser: those of a
panel begin with a finished sweep, whose frame has a column of its own, those of the others with the
frame. In the browser the time runs from the click, or the start of the cell, to the rows in the
page; what is sent is what came through the page's WebSocket, each widget's own code included.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pandas as pd

import confkit as ck
from confkit.many.reading import Part
from confkit.many.result import Sweep
from confkit.panels import RoomExplorer
from confkit.panels.model import frame_of
from confkit.records import Room, RoomUser
from tests.browser import opened
from tests.browser.chromium import HOW, chromium, found
from tests.browser.servers import JUPYTER, Server, running

ROOT = str(Path(__file__).resolve().parents[2])
ROUNDS, SIZES = 3, (1_000, 10_000, 100_000)
AIMS = "first rows 0.3 s, filter 0.1 s"
WANTED = "team 77"
COLUMNS = (
    "topic",
    "room_id",
    "status",
    "utilisation",
    "people",
    "devices",
    "mode",
    "owner_id",
)  # of its table

# Shows a little of each, so that all that is loaded once is there when the time runs.
PREPARED = """
import sys; sys.path.insert(0, {root!r})
import confkit as ck
from confkit.panels import RoomExplorer
from IPython.display import HTML, display
from tests.bench.explorer import shown, swept
client, sweep = ck.connect("sandbox"), swept({rooms})
frame = shown(sweep)
display(RoomExplorer(client, swept(1)))
try:
    from itables.widget import ITable
    display(ITable(frame.head(1)))
except ImportError:
    pass
"""


class Way(NamedTuple):
    """A way to show a frame: its cell, and where in the page are its rows, the field of its search,
    the heading of the topics, and what it says of a search."""

    cell: str
    rows: str
    search: str = ""
    heading: str = ""
    told: str = ""
    says: str = ""


WAYS = {
    "RoomExplorer": Way(
        "RoomExplorer(client, sweep)",
        ".confkit-table tbody tr",
        "input[type=text]",
        ".confkit-table th button",
        ".confkit-told",
        r"\d of [\d,]+ rooms",
    ),
    "itables": Way(
        "ITable(frame, maxBytes=0)",
        "table.dataTable tbody tr",
        ".dt-search input",
        ".dt-column-order",
        ".dt-info",
        "filtered from",
    ),
    "DataFrame.to_html": Way("HTML(frame.to_html(index=False))", "tbody tr"),
}

# Each gives seconds, from what a person does to the rows in the page.
LONGEST = 180  # seconds
PREPARE = """async () => {
    const app = window.jupyterapp; app.shell.currentWidget.content.activeCellIndex = 0;
    await app.commands.execute('notebook:run-cell'); }"""
RUN = """async ([cell, rows]) => {
    const app = window.jupyterapp, notebook = app.shell.currentWidget.content;
    notebook.activeCellIndex = cell;
    const node = notebook.widgets[cell].node, began = performance.now();
    app.commands.execute('notebook:run-cell');
    while (!node.querySelector(rows)) await new Promise(requestAnimationFrame);
    return (performance.now() - began) / 1000; }"""
SEARCH = """async ([cell, field, text, told, says]) => {
    const node = window.jupyterapp.shell.currentWidget.content.widgets[cell].node;
    const input = node.querySelector(field), said = new RegExp(says), began = performance.now();
    input.value = text;
    for (const kind of ['input', 'keyup']) input.dispatchEvent(new Event(kind, {bubbles: true}));
    while (!said.test(node.querySelector(told).textContent))
        await new Promise(requestAnimationFrame);
    return (performance.now() - began) / 1000; }"""
SORT = """async ([cell, heading, rows]) => {
    const node = window.jupyterapp.shell.currentWidget.content.widgets[cell].node;
    const first = () => node.querySelector(rows).textContent;
    const before = first(), began = performance.now();
    node.querySelector(heading).click();
    while (first() === before) await new Promise(requestAnimationFrame);
    return (performance.now() - began) / 1000; }"""


def main() -> None:
    """Prints the tables."""
    _kernel()
    if found() is None:
        print(f"explorer in the browser: not measured; it needs Chromium: {HOW}\n")
        return
    _browser()


def swept(rooms: int) -> Sweep:
    """A finished sweep of so many rooms, none of which was asked for."""
    ids = tuple(f"10{number:06}" for number in range(rooms))
    found = [
        Room(
            room_id=room_id,
            topic=f"Sync of team {(number * 7919 + 5000) % 9973}",
            room_mode=1,
            room_status=1,
            owner_id=f"operations-{number % 50}",
            attendee_max=25,
        )
        for number, room_id in enumerate(ids)
    ]
    users = [[RoomUser("Ada", "5f0c")] * (number % 27) for number in range(rooms)]
    calls = 2 * rooms + 1
    part = Part(found, users, {}, calls, complete=True)
    return Sweep(ids, "SANDBOX", datetime.now(UTC), 60.0, calls, True, (), part, (True, True), None)


def shown(sweep: Sweep) -> pd.DataFrame:
    """The columns of the panel's table as a frame: what the others are given."""
    return frame_of(sweep)[list(COLUMNS)]


def _kernel() -> None:
    print(f"explorer in the kernel, seconds, median of {ROUNDS} rounds")
    print(
        f"  {'rooms':>8}{'first rows':>13}{'(its frame)':>13}{'filter':>9}{'sort':>9}"
        f"{'itables':>10}{'to_html':>10}"
    )
    html = _itables()
    with ck.connect("sandbox") as client:
        for rooms in SIZES:
            sweep = swept(rooms)
            frame = shown(sweep)
            ways: dict[str, Callable[[], object]] = {
                "first rows": lambda sweep=sweep: RoomExplorer(client, sweep),
                "frame": sweep.frame,
                "itables": (lambda frame=frame: html(frame, maxBytes=0)) if html else lambda: None,
                "to_html": lambda frame=frame: frame.to_html(index=False),
            }
            panel = RoomExplorer(client, sweep)
            times: dict[str, list[float]] = {name: [] for name in (*ways, "filter", "sort")}
            for _ in range(ROUNDS):
                for name, run in ways.items():
                    times[name].append(_seconds(run))
                times["filter"].append(_seconds(lambda panel=panel: panel.filter(WANTED)))
                panel.filter()
                times["sort"].append(_seconds(lambda panel=panel: panel.sort("topic")))
            told = {name: f"{median(seconds):.3f}" for name, seconds in times.items()}
            told["itables"] = told["itables"] if html else "-"
            print(
                f"  {rooms:8,}{told['first rows']:>13}{told['frame']:>13}{told['filter']:>9}"
                f"{told['sort']:>9}{told['itables']:>10}{told['to_html']:>10}"
            )
    print(f"  (aims: {AIMS}){'' if html else ' (itables: not measured; it needs itables)'}\n")


def _itables() -> Callable[..., object] | None:
    try:
        from itables import to_html_datatable
    except ImportError:
        return None
    return to_html_datatable


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _browser() -> None:
    ways = {name: way for name, way in WAYS.items() if name != "itables" or _itables()}
    print(f"explorer in JupyterLab and Chromium, median of {ROUNDS} rounds")
    print(
        f"  {'rooms':>8}  {'way':<18}{'first row s':>12}{'MB':>9}{'filter s':>10}{'kB':>8}"
        f"{'sort s':>9}"
    )
    with ExitStack() as open_:
        folder = open_.enter_context(tempfile.TemporaryDirectory())
        browser = open_.enter_context(chromium())
        server = open_.enter_context(running(JUPYTER, Path(folder)))
        for rooms in SIZES:
            rounds = [_round(browser, server, rooms, ways) for _ in range(ROUNDS)]
            for name in ways:
                first, sent, search, more, sort = (
                    median(one[name][place] for one in rounds) for place in range(5)
                )
                found = f"{search:10.2f}{more / 1e3:8.0f}{sort:9.2f}" if ways[name].told else ""
                print(f"  {rooms:8,}  {name:<18}{first:12.2f}{sent / 1e6:9.2f}{found}")
    print(f"  (aims: {AIMS})\n")


def _round(
    browser: Any, server: Server, rooms: int, ways: dict[str, Way]
) -> dict[str, list[float]]:
    """For each way: seconds to the first row, bytes sent, seconds of a search, bytes, of a sort."""
    figures: dict[str, list[float]] = {}
    prepared = PREPARED.format(rooms=rooms, root=ROOT)
    with _page(browser, server, [prepared, *(way.cell for way in ways.values())]) as (page, sent):
        page.evaluate(PREPARE)
        page.wait_for_timeout(1000)  # for what is loaded after it
        for cell, (name, way) in enumerate(ways.items(), 1):
            before = sent()
            first = _seconds_in(page, RUN, [cell, way.rows])
            page.wait_for_timeout(500)  # for what comes behind the first row
            figures[name] = [first, sent() - before, 0, 0, 0]
            if way.told:
                sort = _seconds_in(page, SORT, [cell, way.heading, way.rows])
                page.wait_for_timeout(200)
                before = sent()
                asked = [cell, way.search, WANTED, way.told, way.says]
                search = _seconds_in(page, SEARCH, asked)
                page.wait_for_timeout(200)
                figures[name][2:] = [search, sent() - before, sort]
    return figures


def _seconds_in(page: Any, script: str, given: list[Any]) -> float:
    """What the script gives; an error when that takes too long."""
    late = f"setTimeout(() => no(new Error('nothing came in {LONGEST} s')), {LONGEST * 1000})"
    race = f"(given) => Promise.race([({script})(given), new Promise((_, no) => {late})])"
    return float(page.evaluate(race, given))


@contextmanager
def _page(
    browser: Any, server: Server, cells: list[str]
) -> Iterator[tuple[Any, Callable[[], int]]]:
    """A page with a notebook of these cells, not run, and the bytes that its kernel sent so far."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(30_000)
    sizes: list[int] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))),
    )
    opened.shown(page, opened.LAB, server, opened.written(server, cells))
    try:
        yield page, lambda: sum(sizes)
    finally:
        opened.leave(page, opened.LAB)
