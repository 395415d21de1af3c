"""The forms of the rooms panel: search and filters, rooms to add, and a new room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from ..errors import ConfigError
from ..frames import OTHER, ROOM_MODE, ROOM_STATUS
from ..many.ids import RoomIds
from . import arranging
from .model import Filter
from .parts import Field
from .pasting import columns_in_file, ids_in_file, pasted_ids
from .room_card import problem_html, status_word

Button = Callable[..., ipywidgets.Button]  # makes one, such as a panel's `_button`
ANY = ""  # a Dropdown takes None for nothing chosen


class FilterBar(ipywidgets.HBox):  # type: ignore[misc]  # ipywidgets brings no types
    """Search and filters; `changed` is called when what is wanted has changed."""

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed, self._setting = changed, False
        self._text = arranging.entry("Search", hint="topic, room, owner", width="grow")
        self._status = arranging.choice("Status", _options(ROOM_STATUS), "short")
        self._mode = arranging.choice("Mode", _options(ROOM_MODE), "short")
        self._fuller = arranging.entry("Fuller than (%)", hint="80", width="short")
        self._failures = arranging.check("only failures")
        self._note = arranging.text()
        inputs = (self._text, self._status, self._mode, self._fuller, self._failures)
        for one in inputs:
            one.observe(lambda _: self._heard(), "value")
        super().__init__([*inputs, self._note])
        self.add_class("confkit-row")

    @property
    def wanted(self) -> Filter:
        """What is wanted; ConfigError when the percentage is none."""
        return Filter(
            self._text.value,
            self._status.value or None,
            self._mode.value or None,
            _percent(self._fuller.value),
            self._failures.value,
        )

    def set(self, wanted: Filter) -> None:
        """Set the inputs to this. ConfigError: there is no such filter, and all stays."""
        full = wanted.checked().fuller_than
        self._setting = True
        try:
            self._text.value, self._failures.value = wanted.text, wanted.failures
            self._status.value, self._mode.value = wanted.status or ANY, wanted.mode or ANY
            self._fuller.value = "" if full is None else str(float(full)).removesuffix(".0")
        finally:
            self._setting = False
        self._heard()

    def _heard(self) -> None:
        if self._setting:
            return
        try:
            _percent(self._fuller.value)
        except ConfigError as error:
            self._note.html = problem_html(error)
        else:
            self._note.html = ""
            self._changed()


class AddForm(ipywidgets.VBox):  # type: ignore[misc]
    """Room IDs to add: pasted, or in a file, whose column of IDs people choose where it must be."""

    def __init__(
        self, button: Button, add: Callable[[Any], object], known: Callable[[], object]
    ) -> None:
        self._add = add
        self._text = arranging.lines("Room IDs", "1047, 2291 … with any separators")
        self._file = Field("or a file", "file", ".csv,.txt")
        self._asks = False  # which column it is
        self._column = arranging.choice("Column of the IDs", [("", ANY)])
        self._file.add_class("confkit-grow")
        self._file.observe(lambda _: self._offer(), "held")
        arranging.shown(self._column, False)
        super().__init__(
            [
                arranging.heading("Add rooms"),
                arranging.row(self._text, self._file, self._column),
                arranging.row(
                    button("Add", self.submit, "reading", "primary"),
                    button("Known rooms", known, "reading"),
                ),
            ]
        )
        self.add_class("confkit-form")

    def given(self) -> RoomIds | list[str]:
        """The IDs that were pasted, and those in the file; ConfigError when there are none."""
        pasted = pasted_ids(self._text.value)
        if self._file.text is not None:
            if self._asks and not self._column.value:
                raise ConfigError("Which column holds the room IDs? Choose it beside the file.")
            found = ids_in_file(self._file.name, str(self._file.text), self._column.value or None)
            return found if not pasted else [*pasted, *found.ids]
        if not pasted:
            raise ConfigError("No room was given", "Paste room IDs, or choose a file with them.")
        return pasted

    def submit(self) -> None:
        """Add what was given, empty the form and put it out of sight."""
        self._add(self.given())
        self._text.value = ""
        self._file.clear()
        arranging.shown(self, False)

    def _offer(self) -> None:
        names = columns_in_file(self._file.name, str(self._file.text)) if self._file.text else []
        self._column.options = [("choose one", ANY), *((one, one) for one in names)]
        self._asks = len(names) > 1 and "room_id" not in names
        arranging.shown(self._column, self._asks)


class NewRoomForm(ipywidgets.VBox):  # type: ignore[misc]
    """The fields of a new room; `values` are the arguments of `create_room`."""

    def __init__(self, button: Button, create: Callable[..., object]) -> None:
        self._create = create
        self._texts = {
            "topic": arranging.entry("Topic", width="grow"),
            "owner_id": arranging.entry("Owner"),
            "room_extend_id": arranging.entry("External ID", hint="none"),
            **{
                name: arranging.entry(name, hint="no cap", width="short")
                for name in ("attendee_max", "max_audio", "max_video")
            },
        }
        self._mode = arranging.choice("Mode", [("MCU (1)", 1), ("peer-to-peer (3)", 3)])
        self._password = Field("Host password", hint="none")
        topic, owner, extend_id, *caps = self._texts.values()
        super().__init__(
            [
                arranging.heading("New room"),
                arranging.row(topic, owner, self._mode),
                arranging.row(*caps, extend_id, self._password),
                arranging.row(
                    button("Create room", self.submit, "change", "primary", given=self.values)
                ),
            ]
        )
        self.add_class("confkit-form")

    def values(self) -> dict[str, Any]:
        """What was filled in; what was left empty is missing, topic and owner apart."""
        found: dict[str, Any] = {name: one.value.strip() for name, one in self._texts.items()}
        for name in ("attendee_max", "max_audio", "max_video"):
            if found[name].isdecimal():  # anything else is refused by create_room, which says why
                found[name] = int(found[name])
        given = {name: value for name, value in found.items() if value != ""}
        password = {} if self._password.text is None else {"host_password": self._password.text}
        return {"topic": "", "owner_id": "", **given, "room_mode": self._mode.value, **password}

    def submit(self, values: Mapping[str, Any]) -> None:
        """Create a room of these `values` and put the form out of sight: without its topic,
        external ID and password; the rest serves another room. A form that was filled in anew
        meanwhile stays as it is."""
        self._create(**values)
        if self.values() == values:
            self._texts["topic"].value = self._texts["room_extend_id"].value = ""
            self._password.clear()
            arranging.shown(self, False)


def opener(text: str, place: Any, make: Callable[[], Any], refused: str = "") -> Any:
    """A button that makes a form and puts it in this place, and from then on hides and shows it.
    (A widget that nobody has asked for would cost the first rows their time.)"""

    def turn(_: object) -> None:
        if place.children:
            form = place.children[0]
            arranging.shown(form, form.layout.display == "none")
        else:
            place.children = [make()]

    return arranging.button(text, turn, refused=refused)


def _options(names: dict[int, str]) -> list[tuple[str, str]]:
    return [("any", ANY), *((status_word(name), name) for name in [*names.values(), OTHER])]


def _percent(text: str) -> float | None:
    written = text.strip().removesuffix("%").strip().replace(",", ".")
    if not written:
        return None
    try:
        return Filter(fuller_than=float(written)).checked().fuller_than
    except ValueError:  # ConfigError is one
        raise ConfigError(f"{text!r} is no percentage", "Write a number such as 80.") from None
