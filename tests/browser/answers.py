"""Answers to what a panel asks."""

from typing import Any


def yes(panel: Any, question: str) -> None:
    """Answers the panel's question, which has to say this, with yes."""
    asked = panel.get_by_role("alertdialog")
    asked.get_by_text(question).wait_for()
    asked.get_by_role("button").first.click()
