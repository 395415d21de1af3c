"""The report of a run: one HTML file with its verdict, its checks and the executed notebook."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from ..checks import Checklist, checks_table
from ..errors import ConfigError
from ..secret import MASK, SecretAddress, redact
from ..text import write_atomically
from .inputs import signed
from .running import Run

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; font-weight: bold; margin: .5rem 0 }
details { color: #555 } summary { font-size: .85rem; cursor: pointer }
table { border-collapse: collapse; margin: .5rem 0 } td, th { padding: 3px 10px }
tr:nth-child(even) { background: #f6f6f6 } img { max-width: 100% }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 }
.input_area, .jp-InputArea-editor { background: #f6f6f6; padding: .2rem .7rem; margin-top: 1rem }
.prompt, .jp-InputPrompt, .jp-OutputPrompt, .anchor-link { display: none }
.output_error, .jp-RenderedText[data-mime-type*=stderr] { background: #fdecea }
"""
_FOLDED = """{%- extends 'basic/index.html.j2' -%}
{% block input_group %}<details><summary>code</summary>{{ super() }}</details>{% endblock %}
"""


def check_place(path: Path) -> None:
    """Check that a report can be written there; otherwise ConfigError."""
    try:
        if path.exists() and not path.is_file():  # a folder; a pipe or /dev/null would be replaced
            raise OSError(0, "it is there, and it is no file")
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise _unwritten(path, error) from None


def _unwritten(path: Path, error: OSError) -> ConfigError:
    problem = f"the report cannot be written to {path} ({error.strerror})"
    return ConfigError(problem, "Name a file in a folder of yours.")


def write_report(
    path: Path, run: Run, name: str, service: str, when: datetime, secrets: Iterable[str]
) -> None:
    """Write the file as a whole, in place of one of this name, for its owner alone (mode 0600).
    What is secret shows as ***: by its name, and each of the values `secrets`. Code that names a
    secret shows as it is, without these values.

    ConfigError: it cannot be written."""
    page = render(run, name, service, when, secrets)
    try:
        write_atomically(path, page.encode(errors="replace"), private=True)
    except OSError as error:
        raise _unwritten(path, error) from None


def render(run: Run, name: str, service: str, when: datetime, secrets: Iterable[str]) -> str:
    """The page: self-contained, it loads nothing from anywhere."""
    head = f"Runbook {name} on {service}, {when:%Y-%m-%d %H:%M} UTC: {run.checks.verdict}"
    answer = "<br>".join(map(escape, answered(run.checks)))
    amiss = [check for check in run.checks if check.outcome in ("FAIL", "UNKNOWN")]
    rest = [check for check in run.checks if check not in amiss]
    parts = {"What did not pass": amiss, "The other checks": rest}
    tables = "".join(f"<h2>{title}</h2>{checks_table(of)}" for title, of in parts.items() if of)
    hidden = tuple(secrets)
    cells = _cells(run.notebook, hidden) if run.notebook else ""
    return (
        f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{escape(head)}</title><style>{_STYLE}</style></head><body>"
        f"{_clean(f'<h1>{answer}</h1><p>{escape(head)}</p>{tables}', hidden)}"
        f"<h2>What was looked at</h2>{cells}</body></html>\n"
    )


def answered(checks: Checklist) -> list[str]:
    """Return the answer of all checks: a line for each that failed, else for each that
    could not be known."""
    due = [check for check in checks if check.outcome == checks.verdict]
    if checks.verdict == "PASS" or not due:
        passed = sum(check.outcome == "PASS" for check in checks)
        return [f"{checks.verdict}: {passed} of {len(checks)} checks passed."]
    return [f"{check.outcome}: {_sentence(check.detail)} {check.advice}".rstrip() for check in due]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." * (text[-1:] not in ".!?")


def _cells(executed: Any, hidden: tuple[str, ...]) -> str:
    """The cells of the notebook as HTML; code is folded, and what is secret hidden."""
    from nbconvert.exporters import HTMLExporter
    from nbformat import from_dict

    cells = [_clean(cell, hidden) for cell in executed.cells]
    for cell, shown in zip(executed.cells, cells, strict=True):
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code" and "injected-parameters" not in tags:
            shown["source"] = _code(cell.source, hidden)
    exporter = HTMLExporter(template_name="basic")
    exporter.raw_template = _FOLDED
    page: str = exporter.from_notebook_node(from_dict({**executed, "cells": cells}))[0]
    return page


def _code(source: str, hidden: tuple[str, ...]) -> str:
    """A cell's code without these values, tokens, and logins in addresses: what stands behind a
    secret's name in it is code that takes the secret from elsewhere."""
    for value in filter(None, (*hidden, *signed(source))):
        source = source.replace(value, MASK)
    return re.sub(r"\w+://[^\s\"']+", lambda address: str(SecretAddress(address[0])), source)


def _clean(value: Any, hidden: tuple[str, ...]) -> Any:
    """The value without what is secret in its texts; pictures are left as they are."""
    if isinstance(value, str):
        return redact(value, [*hidden, *signed(value)])
    if isinstance(value, list):
        return [_clean(one, hidden) for one in value]
    if isinstance(value, dict):
        return {k: v if k.startswith("image/") else _clean(v, hidden) for k, v in value.items()}
    return value
