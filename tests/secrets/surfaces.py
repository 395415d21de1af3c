"""All that a person can be shown of a value, of an error, and of what happened meanwhile."""

import contextlib
import inspect
import io
import logging
import traceback
import warnings
from pathlib import Path
from unittest import TestCase

import ipywidgets
import pandas as pd
from IPython.core.formatters import DisplayFormatter
from IPython.core.ultratb import FormattedTB
from IPython.lib.pretty import pretty

import confkit as ck
from tests.commands import Done
from tests.panels.pressing import saved, within

HERE = str(Path(__file__).parent)
MODES = ("Context", "Verbose", "Plain", "Minimal")


def of(thing):
    """All forms in which a value is shown: as text, by IPython, as a table, and of its parts."""
    if inspect.isgenerator(thing):  # each thing is looked at before the next one is made
        for one in thing:
            yield from of(one)
        return
    yield f"{thing!r} {pretty(thing)} {thing}"
    if isinstance(thing, BaseException):
        yield from error(thing)
    elif isinstance(thing, Done):
        yield thing.stdout + thing.stderr
    elif isinstance(thing, list | tuple):
        for one in thing[:3]:
            yield from of(one)
    elif isinstance(thing, pd.DataFrame):
        yield f"{thing._repr_html_()} {thing.to_csv()} {thing.to_html()} {thing.attrs}"
    elif isinstance(thing, ipywidgets.Widget):
        yield saved(thing)
        for one in within(thing):
            yield f"{getattr(one, 'messages', '')} {getattr(one, 'value', '')}"
    elif hasattr(thing, "savefig"):
        thing.savefig(picture := io.StringIO(), format="svg")
        yield f"{picture.getvalue()} {thing.summary()} {thing._repr_mimebundle_()[1]}"
    elif type(thing).__module__.startswith("confkit"):
        shown, _ = DisplayFormatter().format(thing)
        for form in ("as_json", "to_frame"):
            yield f"{shown} {getattr(thing, form, str)()}"


def error(raised, modes=()):
    """All that is shown of an exception and its chain, with locals, and by IPython."""
    links = [raised]
    for link in links:  # which grows
        more = (link.__cause__, link.__context__, *getattr(link, "exceptions", ()))
        links += [one for one in more if one is not None and one not in links]
        yield f"{link} {link!r} {link.args!r} {vars(link)!r}"
        while (trace := link.__traceback__) and trace.tb_frame.f_code.co_filename.startswith(HERE):
            link.__traceback__ = trace.tb_next  # the locals of the tests hold the marks
    told = traceback.TracebackException.from_exception(raised, capture_locals=True)
    yield "".join(told.format())
    for mode in modes:
        made = FormattedTB(mode=mode)
        made.ostream = out = io.StringIO()
        made.handler((type(raised), raised, raised.__traceback__))
        yield out.getvalue()


def calls(client):
    """The client itself, and all forms of its last calls."""
    made = client.calls[-4:]
    yield repr(client)
    for call in made:
        yield f"{call!r} {call.as_python()} {call.as_curl()}"
        yield f"{call.url} {call.answer} {call.error} {call.fields}"
    yield from of(ck.calls_frame(made))


def drive(action, modes=()):
    """All that shows of it, also what is printed, warned of and logged; and what came of it."""
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(record=True) as warned,
        TestCase().assertLogs(level="DEBUG") as logs,
    ):
        warnings.simplefilter("always")
        logging.debug("begun")  # else a drive that logs nothing would be a failure
        try:
            came = action()
            shown = {*of(came)}
        except BaseException as raised:  # noqa: BLE001  # Ctrl-C and SystemExit are outcomes
            came, shown = raised, {*error(raised, modes)}
    lines = [f"{one.name} {one.getMessage()} {one.args!r}" for one in logs.records]
    return {*shown, *lines, *(str(one.message) for one in warned), out.getvalue()}, came
