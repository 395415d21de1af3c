"""Many devices from a table: chosen or pasted, checked, imported; and what became of each."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..errors import ConfigError
from ..many.tables import as_csv
from .arranging import check, fields, row, shown, text
from .device_questions import counted
from .parts import Column, Field, Mark, Table, View

if TYPE_CHECKING:
    import pandas as pd

    from ..many.tables import Problem

COLUMNS = (
    "Columns: room_id, user_id, user_name, user_address; where wanted login_name, login_password, "
    "user_data, options (JSON). Separated by commas, semicolons or tabs."
)
_TONES = {
    "imported": "good", "already there": "note", "not tried": "quiet", "rolled back": "quiet",
    "not seen": "warn", "unknown": "warn",
}  # fmt: skip


class Many(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A table of devices and its result; `buttons` stand below what is chosen."""

    def __init__(self, buttons: Sequence[ipywidgets.Widget]) -> None:
        self.file = Field("CSV file", "file", ".csv,.tsv,.txt")
        self.pasted = Field("or the table as text", "area", "room_id,user_id,user_name,...")
        self.file.add_class("confkit-grow")
        self.pasted.add_class("confkit-grow")
        self.preflight = check("Try each camera first", True)
        self.verify = check("Look for each afterwards", True)
        self.rollback = check("All or none")
        self.problems = Table("Problems of the table", "number", [
            Column("row", "row", right=True), Column("column", "column"),
            Column("problem", "problem"),
        ])  # fmt: skip
        self.outcomes = Table("What became of each device", "row", [
            Column("row", "row", right=True), Column("outcome", "outcome", _outcome),
            Column("user_id", "user"), Column("room_id", "room"), Column("verdict", "preflight"),
            Column("cause", "cause", wide=True),
        ], on_choice=self._tell)  # fmt: skip
        self._detail = text()
        self._file = View("Result as a file")
        self._result: pd.DataFrame | None = None
        super().__init__([
            row(self.file, self.pasted), text(f'<div class="confkit-quiet">{COLUMNS}</div>'),
            row(self.preflight, self.verify, self.rollback), row(*buttons),
            self.problems, self.outcomes, self._detail, self._file,
        ])  # fmt: skip
        self.add_class("confkit-form")
        self._show_only()

    def table(self) -> io.StringIO:
        """The table that was chosen or pasted, open for reading; ConfigError without one."""
        given = list(filter(None, (self.pasted.text, self.file.text)))
        if not given:
            raise ConfigError("No table is there", "Choose a CSV file, or paste its text.")
        if len(given) > 1:
            raise ConfigError(
                "A file is chosen and a text is pasted", "Clear, and give one of them."
            )
        return io.StringIO(given[0])

    def clear(self) -> None:
        """Forgets the table, here and in the browser."""
        self.file.clear()
        self.pasted.clear()

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Shows what is wrong with the table."""
        import pandas as pd

        frame = pd.DataFrame(list(problems), columns=["row", "column", "problem"])
        frame["number"] = range(len(frame))
        told = counted(len(frame), "problem")
        self.problems.show(frame.astype({"row": "Int64"}), told)
        self._show_only(*[self.problems] * bool(problems))

    def show_result(self, result: pd.DataFrame) -> None:
        """Shows what became of each device, and offers that as a file."""
        self._result = result
        self.outcomes.show(result, counted(len(result), "device"))
        self.outcomes.choose("")
        data = b64encode(as_csv(result).encode("utf-8-sig")).decode()
        self._file.show(
            '<a class="confkit-button confkit-link" download="imported-devices.csv" '
            f'href="data:text/csv;charset=utf-8;base64,{data}">Download the result (CSV)</a>'
        )
        self._show_only(self.outcomes, self._detail, self._file)

    def _show_only(self, *some: ipywidgets.Widget) -> None:
        for widget in (self.problems, self.outcomes, self._detail, self._file):
            shown(widget, widget in some)

    def _tell(self, key: str) -> None:
        result = self._result
        chosen = () if result is None else result[result.row.astype(str) == key].to_dict("records")
        names = ("user_name", "user_address", "cause", "advice")
        self._detail.value = "".join(
            fields([(name.removeprefix("user_"), one[name]) for name in names]) for one in chosen
        )


def summary(result: pd.DataFrame) -> str:
    """How many devices came to what: "8 imported, 2 preflight failed"."""
    counts = result.outcome.value_counts(sort=False)
    told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number)
    return f"{told}." if told else "The table has no devices."


def _outcome(one: Mapping[str, Any]) -> Mark:
    return Mark(one["outcome"], _TONES.get(one["outcome"], "bad"))
