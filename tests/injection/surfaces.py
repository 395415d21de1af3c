"""All that is shown of what a service says: each output with its kind, to look at."""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import ipywidgets
import pandas as pd

import confkit as ck
from confkit.checklist import Check, Checklist
from confkit.deployment import service_answers
from confkit.many.tables import as_csv
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer, WirePanel
from confkit.panels.parts import View
from confkit.rtsp.report import Notice, Report, Stage
from tests.panels.pressing import within

from .looking import alive, alive_in_svg, controls, formulas


class Output(NamedTuple):
    """An output: where it comes from, how it is looked at, and its text."""

    where: str
    look: Any
    text: str

    @property
    def wrong(self) -> list[str]:
        """What must never be in it."""
        found: list[str] = self.look(self.text)
        return found


def of(*things: Any) -> Iterator[Output]:
    """Each output of such a thing: of a frame, a chart, a panel, or whatever else shows itself."""
    for thing in things:
        name = type(thing).__name__
        if isinstance(thing, ipywidgets.Widget):
            yield from _of_panel(thing)
        elif hasattr(thing, "savefig"):
            picture = io.StringIO()
            thing.savefig(picture, format="svg")
            yield Output(name, alive_in_svg, picture.getvalue())
            _, beside = thing._repr_mimebundle_()
            yield Output(name, controls, thing.summary() + beside["image/png"]["alt"])
        elif isinstance(thing, pd.DataFrame):
            yield Output(name, alive, thing._repr_html_())
            yield Output(name, formulas, as_csv(thing))
        else:
            yield Output(name, controls, thing if isinstance(thing, str) else f"{thing}{thing!r}")
            if hasattr(thing, "_repr_html_"):
                yield Output(name, alive, thing._repr_html_())


def of_frames(client: ck.Client, ids: Sequence[str]) -> Iterator[Output]:
    """Frames, what they export, and the texts of results and errors."""
    found = ck.sweep(client, ids, progress=False)
    rooms = [ck.get_room(client, one) for one in ids[:3]]
    users = {ids[0]: ck.get_room_users(client, ids[0])}
    devices = ck.devices_frame(ck.list_devices(client))
    yield from of(ck.rooms_frame(rooms), ck.users_frame(users), devices, found.frame())
    yield from of(ck.occupancy_frame(found), ck.calls_frame(client.calls), found, *rooms, client)
    yield from of(*client.calls[-4:], *(call.as_python() for call in client.calls[-3:]))
    for ask, *given in (
        (ck.create_room, ids[0], ids[0]),
        (ck.delete_room, ids[0]),
        (ck.force_offline, ids[0], ids[-1]),
        (ck.get_room, ids[0] + "?"),
    ):
        try:
            ask(client, *given)
        except ck.ConfkitError as error:
            yield from of(str(error))
    yield from of("\n".join(map(str, service_answers(client))))


def of_objects(texts: Sequence[str]) -> Iterator[Output]:
    """Objects that show themselves, filled with such texts."""
    a, b = texts[0], texts[-1]
    report = Report(
        **dict.fromkeys(("subject", "advice", "authentication"), a),
        **dict.fromkeys(("cause", "profile"), b),
        ok=False,
        verdict="not_rtsp",
        codec="h264",
        stages=(Stage(a, 0.1, b, "failed", a),),
        warnings=(Notice("x", "note", b),),
    )
    check = Check(a, "FAIL", b, a)
    checks = Checklist([check])
    for one in (report, check, checks, ck.explain(a)):
        yield Output(type(one).__name__, alive, one._repr_html_())
        yield Output(type(one).__name__, controls, str(one))
    yield from of(checks.as_json())


def of_charts(client: ck.Client, ids: Sequence[str], folder: Path) -> Iterator[Output]:
    """Charts as SVG and as text, of a sweep and of a recording."""
    ck.Recorder(folder).record(client, list(ids), every=1, sweeps=1)
    samples = ck.load_occupancy(folder)
    yield from of(
        ck.occupancy_chart(ck.occupancy_frame(ck.sweep(client, ids, progress=False))),
        ck.occupancy_curve(samples, ids[0], topic=ids[1], service=ids[2]),
        ck.occupancy_heatmap(samples, rooms=ids[0], service=ids[1]),
    )


def of_panels(client: ck.Client, ids: Sequence[str]) -> Iterator[Output]:
    """The panels, with a room picked and its details read."""
    yield from of_rooms(client, ids)
    for panel in (DevicePanel(client, ids[0]), OccupancyPanel(client, list(ids))):
        assert panel.wait(30)
        yield from of(panel)
        panel.close()
    wire = WirePanel(client)
    for back in range(-8, 0):
        wire.choose(back)
        assert wire.wait(30)
        yield from of(wire)


def of_rooms(client: ck.Client, ids: Sequence[str]) -> Iterator[Output]:
    """The panel of rooms, one of them in full."""
    rooms = RoomExplorer(client, list(ids))
    assert rooms.wait(30)
    for room_id in ids[:8]:
        rooms.select(room_id)
        with suppress(ck.ConfkitError):  # which the panel shows
            rooms.check_media_server()
        yield from of(rooms)
    yield Output("RoomExplorer.export", formulas, rooms.export())


def _of_panel(panel: Any) -> Iterator[Output]:
    """Each HTML text of a panel; what else it shows its half in the browser writes as text."""
    for one in within(panel):
        where = f"{type(panel).__name__}, {type(one).__name__}"
        if isinstance(one, ipywidgets.HTML | View):
            yield Output(where, alive, one.html if isinstance(one, View) else one.value)
        sets = isinstance(one, ipywidgets.Label | ipywidgets.HTMLMath)  # formulas
        if sets or getattr(one, "description_allow_html", False):
            yield Output(where, alive, "<pwned>")
