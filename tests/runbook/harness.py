"""Plays a runbook's function as its notebook does: the scene, each check as it comes, the verdict.

`play("media-server-gone", scene="stopped")` plays it on a sandbox of its own, `play(name, client,
room=...)` on a service that a test has built. `deployed()` is one as a runbook meets a real one:
reached from outside, in a dialect of its own, without a handle to steer it; the test holds that.
"""

import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from io import StringIO
from typing import Any

import confkit as ck
from confkit import runbook
from confkit.endpoints import ENDPOINTS
from confkit.runbook import library
from confkit.sandbox import Sandbox

FOREIGN = ck.Dialect(
    hash="sha256",
    signature="raw",
    token_parameter="access_tocken",
    result_field="result",
    item_keys="snake_case",
    create_method="POST",
    list_method="POST",
    placement="json",
    remove_token_parameter="accessToken",
)
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded
SETTINGS = ("base_url", "outgoing_url", "access_key", "secret_key")
A1, A2, A3 = "/rtc/auth/valid", "/rtc/room/create", "/rtc/room/get"
A4, A5, A6 = "/rtc/room/del", "/sdk/get_mcu", "/rtc/room/get_room_info"
A7, B1 = "/rtc/force_offline_mcu", "/avd/api/outgoing/createOutgoingUser"
B2, B3 = "/avd/api/outgoing/destroyOutgoingUser", "/avd/api/outgoing/getOutgoingUsers"


class Played(ck.Checklist):
    """The checks of a run; `text` is all that was shown, `changed` what a sandbox was asked for."""

    text: str
    changed: Counter[str]

    def __getitem__(self, check: Any) -> Any:
        """The last check of this name."""
        return {one.check: one for one in self}[check]

    @property
    def wrong(self) -> dict[str, str]:
        """The checks that did not pass and were not skipped, with their verdicts."""
        return {one.check: one.verdict for one in self if one.verdict in ("FAIL", "UNKNOWN")}


def play(name: str, client: ck.Client | None = None, scene: str = "", **inputs: Any) -> Played:
    """The runbook, played on this client, or on a sandbox of its own; what its function does not do
    without is empty, as its notebook gives it."""
    shown = StringIO()
    function = getattr(runbook, name.replace("-", "_"))
    empty = {
        one.name: ""
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.name != "client"
    }
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(shown))
        client = client or stack.enter_context(ck.connect("sandbox"))
        book = runbook.begin(name, client)
        scene = scene or str(library.find(name).inputs["scene"])
        given = {"client": client, **book.scene(scene, **{**empty, **inputs})}
        before = writes(client.sandbox)
        book.show(function(**given))
        print(book.verdict()._repr_html_())
        played = Played(book.checks)
        played.changed = writes(client.sandbox) - before
    played.text = shown.getvalue()
    return played


@contextmanager
def deployed(**options: Any) -> Iterator[tuple[Sandbox, ck.Client]]:
    """A sandbox, and a client of it that knows nothing of its being one."""
    with Sandbox(seed=5, dialect=FOREIGN) as sandbox, outside(sandbox, **options) as client:
        yield sandbox, client


def outside(sandbox: Sandbox, **options: Any) -> ck.Client:
    """A client of a sandbox, made from addresses and keys as that of a real service."""
    settings = {name: getattr(sandbox, name) for name in SETTINGS}
    return ck.connect(**{**settings, "dialect": sandbox.dialect, **options})


@contextmanager
def changes(sandbox: Sandbox, **expected: int) -> Iterator[None]:
    """Fails unless exactly these operations that change something are asked for inside."""
    before = writes(sandbox)
    yield
    assert writes(sandbox) - before == expected


def writes(sandbox: Sandbox | None) -> Counter[str]:
    """How often each operation that changes something was asked for."""
    changing = {key: one.path for key, one in ENDPOINTS.items() if one.write}
    return Counter({key: sandbox.count(path) for key, path in changing.items()} if sandbox else {})
