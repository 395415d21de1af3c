"""All that is shown of what a service says: each output with its kind, to look at."""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import ipywidgets

import confkit as ck
from confkit.charts import occupancy_chart, occupancy_curve, occupancy_heatmap
from confkit.checklist import Check, Checklist
from confkit.deployment import service_answers
from confkit.frames import calls_frame
from confkit.many.sweeps import sweep
from confkit.many.tables import as_csv
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer, WirePanel
from confkit.panels.parts import View
from confkit.rtsp.report import Notice, Report, Stage

from .looking import alive, alive_in_svg, controls, formulas


class Output(NamedTuple):
    """An output: where it comes from, and its kind: "html", "text", "svg" or "csv"."""

    where: str
    kind: str
    text: str


KINDS = {
    "html": ("markup alive", alive),
    "text": ("control characters", controls),
    "svg": ("markup alive", alive_in_svg),
    "csv": ("formulas", formulas),
}


def wrong(output: Output) -> tuple[str, list[str]]:
    """What is counted where something is found in an output, and what was found."""
    name, look = KINDS[output.kind]
    return name, look(output.text)


def of_frames(client: ck.Client, ids: Sequence[str]) -> Iterator[Output]:
    """Frames, what they export, and the texts of results and errors."""
    found = sweep(client, ids, progress=False)
    rooms = [ck.get_room(client, one) for one in ids[:3]]
    frames = {
        "rooms": ck.rooms_frame(rooms),
        "users": ck.users_frame({ids[0]: ck.get_room_users(client, ids[0])}),
        "devices": ck.devices_frame(ck.list_devices(client)),
        "sweep": found.frame(),
        "occupancy": ck.occupancy_frame(found),
        "calls": calls_frame(client.calls),
    }
    for name, frame in frames.items():
        yield Output(f"{name}_frame", "html", frame._repr_html_())
        yield Output(f"{name}_frame", "csv", as_csv(frame))
    for what in (found, *rooms, *client.calls[-4:], client):
        yield Output(type(what).__name__, "text", repr(what))
    for call in client.calls[-3:]:
        yield Output("Call.as_python", "text", call.as_python())
    for ask in (
        lambda: ck.create_room(client, ids[0], ids[0]),
        lambda: ck.delete_room(client, ids[0]),
        lambda: ck.force_offline(client, ids[0], ids[-1]),
        lambda: ck.get_room(client, ids[0] + "?"),
    ):
        try:
            ask()
        except ck.ConfkitError as error:
            yield Output(type(error).__name__, "text", str(error))
    yield Output("service_answers", "text", "\n".join(map(str, service_answers(client))))


def of_objects(texts: Sequence[str]) -> Iterator[Output]:
    """Objects that show themselves, filled with such texts."""
    a, b = texts[0], texts[-1]
    report = Report(
        subject=a,
        ok=False,
        verdict="not_rtsp",
        cause=b,
        advice=a,
        codec="h264",
        profile=b,
        authentication=a,
        stages=(Stage(a, 0.1, b, "failed", a),),
        warnings=(Notice("x", "note", b),),
    )
    check = Check(a, "FAIL", b, a)
    made = [
        report,
        check,
        Checklist([check]),
        ck.explain(a),
    ]
    for one in made:
        yield Output(type(one).__name__, "html", one._repr_html_())
        yield Output(type(one).__name__, "text", f"{one}")
    yield Output("Checklist.as_json", "text", Checklist([check]).as_json())


def of_charts(client: ck.Client, ids: Sequence[str], folder: Path) -> Iterator[Output]:
    """Charts as SVG and as text, of a sweep and of a recording."""
    frame = ck.occupancy_frame(sweep(client, ids, progress=False))
    ck.Recorder(folder).record(client, list(ids), every=1, sweeps=1)
    samples = ck.load_occupancy(folder)
    for name, chart in {
        "occupancy_chart": occupancy_chart(frame),
        "occupancy_curve": occupancy_curve(samples, ids[0], topic=ids[1], service=ids[2]),
        "occupancy_heatmap": occupancy_heatmap(samples, rooms=ids[0], service=ids[1]),
    }.items():
        picture = io.StringIO()
        chart.savefig(picture, format="svg")
        yield Output(name, "svg", picture.getvalue())
        yield Output(name, "text", chart.summary())
        _, beside = chart._repr_mimebundle_()
        yield Output(name, "text", beside["image/png"]["alt"])


def of_panels(client: ck.Client, ids: Sequence[str]) -> Iterator[Output]:
    """The panels, with a room picked and its details read."""
    yield from of_panels_of_rooms(client, ids)
    yield from of_panels_of_one(client, ids)


def of_panels_of_rooms(client: ck.Client, ids: Sequence[str]) -> Iterator[Output]:
    """The rooms, one of them in full."""
    rooms = RoomExplorer(client, list(ids))
    assert rooms.wait(30)
    for room_id in ids[:8]:
        rooms.select(room_id)
        with suppress(ck.ConfkitError):  # which the panel shows
            rooms.check_media_server()
        yield from _of_panel(rooms)
    yield Output("RoomExplorer.export", "csv", rooms.export())


def of_panels_of_one(client: ck.Client, ids: Sequence[str]) -> Iterator[Output]:
    """The other panels."""
    devices = DevicePanel(client, ids[0])
    assert devices.wait(30)
    yield from _of_panel(devices)
    occupancy = OccupancyPanel(client, list(ids))
    assert occupancy.wait(30)
    yield from _of_panel(occupancy)
    occupancy.close()
    wire = WirePanel(client)
    for back in range(-8, 0):
        wire.choose(back)
        assert wire.wait(30)
        yield from _of_panel(wire)


def _of_panel(panel: Any) -> Iterator[Output]:
    """Each HTML text of a panel; what else it shows its half in the browser writes as text."""
    waiting = [panel]
    while waiting:
        one = waiting.pop()
        waiting += getattr(one, "children", ())
        where = f"{type(panel).__name__}, {type(one).__name__}"
        if isinstance(one, ipywidgets.HTML):
            yield Output(where, "html", one.value)
        elif isinstance(one, View):
            yield Output(where, "html", one.html)
        elif isinstance(one, ipywidgets.Label | ipywidgets.HTMLMath):
            yield Output(where, "html", "<pwned>")  # they set formulas
        if getattr(one, "description_allow_html", False):
            yield Output(where, "html", "<pwned>")
