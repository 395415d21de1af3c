"""Sandboxes that list a device without a camera, and a probe that waits for nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import confkit as ck
from confkit.connect import SERVICE
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one room, in which one device is listed; its camera is gone."""
    path = tmp_path_factory.mktemp("probe") / "rooms.sqlite"
    with Sandbox(seed=3, path=path) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=9)
        camera = sandbox.camera("door", size=(128, 96), fps=10)
        ck.import_device(client, room_id, "cam", "Door", camera)
    return path


@pytest.fixture
def playing(furnished, tmp_path):
    """playing(dialect): a sandbox that plays this deployment, with that room and device."""

    def play(dialect: Dialect | None = None, **options: Any) -> Sandbox:
        path = tmp_path / "rooms.sqlite"
        shutil.copy(furnished, path)
        return Sandbox(seed=1, dialect=dialect, path=path, **options)

    return play


@pytest.fixture
def probe() -> Callable[..., ck.Probe]:
    """probe(sandbox, ...): what a probe of it finds."""

    def ask(sandbox: Sandbox, **options: Any) -> ck.Probe:
        how = {name: getattr(sandbox, name) for name in SERVICE}
        how |= {"sleep": lambda _: None, "timeout": 30.0}
        return ck.probe_dialect(**{**how, **options})

    return ask
