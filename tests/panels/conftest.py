"""Panels that are closed with their test."""

import pytest

from tests.panels.pressing import settled


@pytest.fixture
def open_panel(client):
    """Makes panels and blocks that read nothing by themselves."""
    panels = []

    def make(kind, *arguments, client=client, **options):
        panels.append(kind(client, *arguments, **{"every": 0, **options}))
        return panels[-1]

    yield make
    for panel in panels:
        panel.close()
    settled()
