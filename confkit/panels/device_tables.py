"""The part of `DevicePanel` with tables of devices: checked, imported, and how each one fared."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, TextIO

from ..bulk.device_table import TableError, device_rows, table_error
from ..bulk.driver import Fate
from ..bulk.imports import import_devices
from ..client import Client
from ..errors import ConfigError
from ..many.tables import is_table
from .arranging import button
from .device_listing import Listing
from .device_many import Many, summary
from .device_questions import counted, table_question

if TYPE_CHECKING:
    import os

    import pandas as pd

    Given = pd.DataFrame | str | os.PathLike[str] | TextIO


class Tables(Listing):
    """A panel that imports many devices; `result` is what became of each of the last table."""

    def __init__(self, client: Client, room_id: str | None) -> None:
        super().__init__(client, room_id)
        self.result: pd.DataFrame | None = None
        ask = self.clicked(self._ask_table, "table")
        self.many = Many([
            button("Check the table", self.clicked(self.check_table, "table")),
            button("Import the table", ask, "primary", refused=self.frame.note),
            button("Clear", lambda _: self.many.clear()),
        ])  # fmt: skip

    def check_table(self, table: Given | None = None) -> int:
        """How many devices a table has, the one in the panel unless another is given; nothing is
        sent. TableError when something is wrong with it."""
        with self.working("Checking the table", "table"):
            rows = self._checked(self.many.table() if table is None else table)
            told = counted(len(rows), "device")
            self.tell(f"{told}, and nothing is wrong with the table.", "good", "table")
            return len(rows)

    def import_table(
        self,
        table: Given | None = None,
        *,
        preflight: bool | None = None,
        verify: bool | None = None,
        rollback: bool | None = None,
    ) -> pd.DataFrame:
        """One row a device with what became of it, as of `import_devices`; also the `result`.

        What is not given is as the panel has it. ConfigError for what is no table.
        """
        many = self.many
        with self.working("Importing the table", "table") as work:
            _needs_table(table)
            self.result = import_devices(
                self.client,
                many.table() if table is None else table,
                preflight=many.preflight.value if preflight is None else preflight,
                verify=many.verify.value if verify is None else verify,
                rollback=many.rollback.value if rollback is None else rollback,
                progress=work.progress,
                cancelled=work.cancelled,
            )
            many.show_result(self.result)
            well = bool(self.result.outcome.isin(["imported", "already there"]).all())
            advice = "" if well else " Pick a row to see its cause and the next step."
            self._told(summary(self.result) + advice, well, "table")
            return self.result

    def _checked(self, table: Given) -> list[Fate]:
        _needs_table(table)
        rows, problems = device_rows(table)
        self.many.show_problems(problems)
        if problems:
            raise table_error(problems)
        return rows

    def _ask_table(self) -> None:
        # What the question says is what is done, whatever is ticked while it stands.
        many = self.many
        ticked = {name: getattr(many, name).value for name in ("preflight", "verify", "rollback")}
        with self.working("Checking the table", "table"):
            table = many.table()
            rows = self._checked(table)
            table.seek(0)
            question = table_question(self.client, rows, ticked["preflight"], ticked["rollback"])
        self.ask("Import", question, lambda: self.import_table(table, **ticked))

    def fails(self, error: BaseException, kind: str = "work") -> None:
        """Say in the panel what went wrong, each problem of a table in its row."""
        super().fails(error, kind)
        if isinstance(error, TableError):
            self.many.show_problems(error.problems)
            self.tell(f"{error.meaning} Nothing was sent. {error.advice}", "bad", kind)


def _needs_table(table: object) -> None:
    if not (table is None or is_table(table) or isinstance(table, io.TextIOBase)):
        raise ConfigError(
            f"the table is {type(table).__name__}, and no table",
            "Give a DataFrame, a path, or a file that is open for reading.",
        )
