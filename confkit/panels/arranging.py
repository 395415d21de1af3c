"""Rows, headings, buttons and inputs, in the one look of all panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, Literal

import ipywidgets

from .parts import View


def row(*children: ipywidgets.Widget) -> ipywidgets.HBox:
    """The widgets beside each other, below each other where it is narrow."""
    return _classed(ipywidgets.HBox(children), "confkit-row")


def columns(*children: ipywidgets.Widget) -> ipywidgets.HBox:
    """Equal columns, below each other where it is narrow."""
    return _classed(ipywidgets.HBox(children), "confkit-columns")


def heading(title: str) -> View:
    """A heading over what belongs together."""
    return text(heading_html(escape(title)))


def heading_html(title: str) -> str:
    """The same as HTML, of a title that is escaped already."""
    return f'<div class="confkit-heading" role="heading" aria-level="4">{title}</div>'


def block(title: str, *children: ipywidgets.Widget) -> ipywidgets.VBox:
    """The widgets below each other under a heading."""
    return ipywidgets.VBox([heading(title), *children])


def button(
    text: str,
    clicked: Callable[[Any], object],
    style: Literal["", "primary", "danger"] = "",
    *,
    refused: str = "",
) -> ipywidgets.Button:
    """A button; with a reason why it is `refused` it is disabled and says that."""
    made = ipywidgets.Button(
        description=text, button_style=style, disabled=bool(refused), tooltip=refused or text
    )
    made.on_click(clicked)
    return made


def entry(label: str, value: str = "", hint: str = "", width: str = "") -> ipywidgets.Text:
    """A line of text, for what may be saved; `width` is "", "grow" or "short"."""
    made = ipywidgets.Text(value=value, description=label, placeholder=hint)
    return _input(made, width)


def choice(label: str, options: Sequence[Any], width: str = "") -> ipywidgets.Dropdown:
    """One of several options."""
    return _input(ipywidgets.Dropdown(options=options, description=label), width)


def lines(label: str, hint: str = "") -> ipywidgets.Textarea:
    """Several lines of text, for what may be saved."""
    made = ipywidgets.Textarea(description=label, placeholder=hint, rows=4)
    return _input(made, "grow")


def check(label: str, value: bool = False) -> ipywidgets.Checkbox:
    """A box to tick."""
    return ipywidgets.Checkbox(
        description=label, value=value, indent=False, layout=ipywidgets.Layout(width="auto")
    )


def text(html: str = "") -> View:
    """HTML; who sets its `html` escapes what comes from a service."""
    return View(html=html)


def shown(widget: ipywidgets.Widget, whether: bool) -> None:
    """Show the widget, or hide it so that it takes no place."""
    widget.layout.display = None if whether else "none"


def fields(pairs: Sequence[tuple[str, Any]]) -> str:
    """The names and values as HTML, escaped; a missing value is a dash."""
    text = "".join(f"<dt>{escape(name)}</dt><dd>{_value(value)}</dd>" for name, value in pairs)
    return f"<dl>{text}</dl>"


def _value(value: Any) -> str:
    return "&ndash;" if value is None or value == "" else escape(str(value))


def _input(widget: Any, width: str) -> Any:
    return _classed(widget, "confkit-input", *([f"confkit-{width}"] if width else []))


def _classed(widget: Any, *names: str) -> Any:
    for name in names:
        widget.add_class(name)
    return widget
