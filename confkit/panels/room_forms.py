"""The forms of the rooms panel: search and filters, rooms to add, and a new room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from ..errors import ConfigError
from ..frames import OTHER, ROOM_MODE, ROOM_STATUS
from ..tables import RoomIds
from . import arranging
from .model import Filter
from .parts import Field
from .pasting import columns_in_file, ids_in_file, pasted_ids
from .room_card import problem_html, status_word

Button = Callable[..., ipywidgets.Button]  # makes one, such as a panel's `_button`
ANY = ""  # a Dropdown takes None for nothing chosen


class FilterBar(ipywidgets.HBox):  # type: ignore[misc]  # ipywidgets brings no types
    """Search and filters; `changed` is called when another filter is `wanted`."""

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed, self._setting = changed, False
        self.wanted = Filter()
        self._inputs = {
            "text": arranging.entry("Search", hint="topic, room, owner", width="grow"),
            "status": arranging.choice("Status", _options(ROOM_STATUS), "short"),
            "mode": arranging.choice("Mode", _options(ROOM_MODE), "short"),
            "fuller_than": arranging.entry("Fuller than (%)", hint="80", width="short"),
            "failures": arranging.check("only failures"),
        }
        self._note = arranging.text()
        for one in self._inputs.values():
            one.observe(lambda _: self._heard(), "value")
        super().__init__([*self._inputs.values(), self._note])
        self.add_class("confkit-row")

    def set(self, wanted: Filter) -> None:
        """Set the inputs to this. ConfigError: there is no such filter, and all stays."""
        full = wanted.checked().fuller_than
        shown = "" if full is None else str(float(full)).removesuffix(".0")
        self._setting = True
        try:
            for name, one in self._inputs.items():
                value = getattr(wanted, name)
                one.value = shown if name == "fuller_than" else ANY if value is None else value
        finally:
            self._setting = False
        self._heard()

    def _heard(self) -> None:
        if self._setting:
            return
        given: Any = {name: one.value or None for name, one in self._inputs.items()}
        given |= {name: self._inputs[name].value for name in ("text", "failures")}
        try:
            given["fuller_than"] = _percent(given["fuller_than"] or "")
        except ConfigError as error:
            self._note.html = problem_html(error)
        else:
            self._note.html, self.wanted = "", Filter(**given)
            self._changed()


def add_form(
    button: Button, add: Callable[[Any], object], known: Callable[[], object]
) -> ipywidgets.VBox:
    """Room IDs to add: pasted, or in a file, whose column of IDs people choose where it must be."""
    text = arranging.lines("Room IDs", "1047, 2291 … with any separators")
    file = Field("or a file", "file", ".csv,.txt")
    file.add_class("confkit-grow")
    column = arranging.choice("Column of the IDs", [("", ANY)])

    def offer(_: object = None) -> None:
        names = columns_in_file(file.name, file.text.reveal()) if file.text else []
        column.options = [("choose one", ANY), *((one, one) for one in names)]
        arranging.shown(column, len(names) > 1 and "room_id" not in names)

    def given() -> RoomIds | list[str]:
        pasted = pasted_ids(text.value)
        if file.text is None:
            if not pasted:
                raise ConfigError("No room was given", "Paste room IDs, or choose a file of them.")
            return pasted
        if column.layout.display is None and not column.value:
            raise ConfigError("Which column holds the room IDs? Choose it beside the file.")
        found = ids_in_file(file.name, file.text.reveal(), column.value or None)
        return [*pasted, *found.ids] if pasted else found

    def submit() -> None:
        add(given())
        text.value = ""
        file.clear()
        arranging.shown(form, False)

    file.observe(offer, "held")
    offer()
    form = _form(
        "Add rooms",
        arranging.row(text, file, column),
        arranging.row(
            button("Add", submit, "reading", "primary"), button("Known rooms", known, "reading")
        ),
    )
    return form


def new_room_form(button: Button, create: Callable[..., object]) -> ipywidgets.VBox:
    """The fields of a new room. Once it is created the form goes, without topic, external ID and
    password: the rest serves another room. One that was filled in anew meanwhile stays as it is."""
    caps = {
        name: arranging.entry(name, hint="no cap", width="short")
        for name in ("attendee_max", "max_audio", "max_video")
    }
    texts = {
        "topic": arranging.entry("Topic", width="grow"),
        "owner_id": arranging.entry("Owner"),
        "room_extend_id": arranging.entry("External ID", hint="none"),
        **caps,
    }
    mode = arranging.choice("Mode", [("MCU (1)", 1), ("peer-to-peer (3)", 3)])
    password = Field("Host password", hint="none")

    def values() -> dict[str, Any]:
        found: dict[str, Any] = {name: one.value.strip() for name, one in texts.items()}
        for name in caps:
            if found[name].isdecimal():  # anything else is refused by create_room, which says why
                found[name] = int(found[name])
        found |= {"room_mode": mode.value, "host_password": password.text or ""}
        return {
            name: value
            for name, value in found.items()
            if value != "" or name in ("topic", "owner_id")
        }

    def submit(given: dict[str, Any]) -> None:
        create(**given)
        if values() == given:
            texts["topic"].value = texts["room_extend_id"].value = ""
            password.clear()
            arranging.shown(form, False)

    topic, owner, extend_id, *_ = texts.values()
    form = _form(
        "New room",
        arranging.row(topic, owner, mode),
        arranging.row(*caps.values(), extend_id, password),
        arranging.row(button("Create room", submit, "change", "primary", given=values)),
    )
    return form


def opener(text: str, place: Any, make: Callable[[], Any], refused: str = "") -> Any:
    """A button that makes a form and puts it in this place, and from then on hides and shows it.
    (A widget before anybody wants it would cost the first rows their time.)"""

    def turn(_: object) -> None:
        if place.children:
            form = place.children[0]
            arranging.shown(form, form.layout.display == "none")
        else:
            place.children = [make()]

    return arranging.button(text, turn, refused=refused)


def _form(title: str, *rows: ipywidgets.Widget) -> ipywidgets.VBox:
    form = arranging.block(title, *rows)
    form.add_class("confkit-form")
    return form


def _options(names: dict[int, str]) -> list[tuple[str, str]]:
    return [("any", ANY), *((status_word(name), name) for name in [*names.values(), OTHER])]


def _percent(text: str) -> float | None:
    written = text.strip().removesuffix("%").strip().replace(",", ".")
    try:
        return Filter(fuller_than=float(written)).checked().fuller_than if written else None
    except ValueError:  # ConfigError is one
        raise ConfigError(f"{text!r} is no percentage", "Write a number such as 80.") from None
