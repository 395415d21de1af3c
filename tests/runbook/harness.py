"""Plays a runbook's function as its notebook does: the scene, each check as it comes, the verdict.

`with world("media-server-gone", "stopped") as there: there.play(apply=True)` plays it on a sandbox
of its own, as often as one likes; with `real=True` as a runbook meets a real service: from outside,
in a dialect of its own, without a handle to steer it; the test holds that.
"""

import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any

import confkit as ck
from confkit import runbook
from confkit.operations import OPERATIONS
from confkit.runbook import library
from confkit.sandbox import Sandbox

FOREIGN = ck.Dialect(
    hash="sha256",
    signature="raw",
    token_parameter="access_tocken",
    create_method="POST",
    list_method="POST",
    placement="json",
    remove_token_parameter="accessToken",
)
SETTINGS = ("base_url", "outgoing_url", "access_key", "secret_key")


class Played(ck.Checklist):
    """The checks of a run; `text` is all that was shown, `changed` what the service was asked for,
    `left` the rooms that are there now and were not before."""

    text: str
    changed: Counter[str]
    left: set[str]

    def __getitem__(self, check: Any) -> Any:
        """The last check of this name."""
        return {one.name: one for one in self}[check]

    @property
    def advice(self) -> str:
        """All that there is to do."""
        return " ".join(one.advice for one in self)

    @property
    def wrong(self) -> dict[str, str]:
        """The checks that did not pass and were not skipped, with their verdicts."""
        return {one.name: one.outcome for one in self if one.outcome in ("FAIL", "UNKNOWN")}


class World:
    """A sandbox, a client that the runbook is played with, and the inputs of the scene."""

    def __init__(self, name: str, scene: str, sandbox: Sandbox, client: ck.Client) -> None:
        self.name, self.sandbox, self.client = name, sandbox, client
        self.function = getattr(runbook, name.replace("-", "_"))
        parameters = inspect.signature(self.function).parameters.values()
        empty = {one.name: "" for one in parameters if one.default is one.empty}
        with redirect_stdout(StringIO()), sandbox.connect() as owner:
            given = runbook.begin(name, owner).scene(scene, **empty) if scene else empty
        self.inputs = {**given, "client": given.get("client") or client}

    def play(self, **asked: Any) -> Played:
        """Play it with these inputs. The name of an operation is a fault of it meanwhile: its code,
        what `Sandbox.fault` takes, or several of these, one after the other."""
        shown, self.book = StringIO(), runbook.Runbook(self.name, self.client)
        for key in OPERATIONS.keys() & asked.keys():
            fault = asked.pop(key)
            for one in fault if isinstance(fault, list) else [fault]:
                options = one if isinstance(one, dict) else {"ret": one}
                self.sandbox.fault(OPERATIONS[key].path, **options)
        before, rooms = self.changes(), self.sandbox.room_ids()
        with redirect_stdout(shown):
            self.book.show(self.function(**{**self.inputs, **asked}))
            print(self.book.verdict()._repr_html_())
        self.sandbox.clear_faults()
        played = Played(self.book.checks)
        played.text, played.changed = shown.getvalue(), self.changes() - before
        played.left = {*self.sandbox.room_ids()} - {*rooms}
        return played

    def changes(self) -> Counter[str]:
        """How often each operation that changes something was asked for."""
        changing = {key: one.path for key, one in OPERATIONS.items() if one.write}
        return Counter({key: self.sandbox.count(path) for key, path in changing.items()})


@contextmanager
def world(name: str, scene: str | None = None, real: bool = False) -> Iterator[World]:
    """A sandbox with this scene of a runbook, with the one that its notebook shows, or, where it is
    empty, with nothing."""
    scene = str(library.find(name).inputs["scene"]) if scene is None else scene
    with (
        Sandbox(seed=5, dialect=FOREIGN if real else None) as sandbox,
        outside(sandbox) if real else sandbox.connect() as client,
    ):
        yield World(name, scene, sandbox, client)


def outside(sandbox: Sandbox, **options: Any) -> ck.Client:
    """A client of a sandbox, made from addresses and keys as that of a real service."""
    settings = {name: getattr(sandbox, name) for name in SETTINGS}
    return ck.connect(**{**settings, "dialect": sandbox.dialect, **options})
