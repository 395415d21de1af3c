"""Sandboxes that list a device, and a probe that waits for nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import confkit as ck
from confkit.connect import SERVICE
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox


@pytest.fixture(scope="session")
def door() -> Iterator[str]:
    """The address of a camera, of a sandbox of its own."""
    with Sandbox() as sandbox:
        yield sandbox.camera("door", size=(128, 96), fps=10)


@pytest.fixture
def playing(door):
    """playing(dialect): a sandbox that plays this deployment, with one room and a device in it."""

    @contextmanager
    def play(dialect: Dialect | None = None, **options: Any) -> Iterator[Sandbox]:
        with Sandbox(seed=1, dialect=dialect, **options) as sandbox:
            with sandbox.connect() as client:
                room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=9)
                ck.import_device(client, room_id, "cam", "Door", door)
            yield sandbox

    return play


@pytest.fixture
def probe() -> Callable[..., ck.Probe]:
    """probe(sandbox, ...): what a probe of it finds."""

    def ask(sandbox: Sandbox, **options: Any) -> ck.Probe:
        how = {name: getattr(sandbox, name) for name in SERVICE}
        how |= {"sleep": lambda _: None, "timeout": 30.0}
        return ck.probe_dialect(**{**how, **options})

    return ask
