"""All that a person can be shown of a value, of an exception, and of what happened meanwhile."""

import contextlib
import io
import logging
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import confkit as ck
from confkit.secret import Guarded, Secret
from tests.secrets.marks import Marks
from tests.secrets.names import shown_with

HERE = str(Path(__file__).parent)
MODES = ("Context", "Verbose", "Plain", "Minimal")


@dataclass
class Shown:
    """What was shown, each text under the name of where."""

    texts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, where: str, text: object) -> None:
        """Keeps one text more."""
        self.texts.append((where, text if isinstance(text, str) else repr(text)))

    def secrets(self, marks: Marks) -> list[str]:
        """Each marked secret that can be read in it, and where."""
        return [f"{where}: {told}" for where, text in self.texts for told in marks.found(text)]


def members(shown: Shown, thing: Any) -> None:
    """What a thing of ours shows of itself when it is asked: its properties and its other forms."""
    for name in sorted(shown_with(type(thing))):
        with contextlib.suppress(ck.ConfkitError):  # such as of a sandbox that has ended
            found = getattr(thing, name)
            shown.add(f"{type(thing).__name__}.{name}", repr(found() if callable(found) else found))


def value(shown: Shown, thing: Any) -> None:
    """All forms in which a value is shown: as text, by IPython, as a table, and of its parts."""
    import pandas as pd
    from IPython.core.formatters import DisplayFormatter
    from IPython.lib.pretty import pretty

    shown.add("repr", repr(thing))
    if not isinstance(thing, Secret | Guarded):  # a text of ours gives itself to code
        shown.add("str", str(thing))
        shown.add("format", f"{thing}")
    shown.add("pretty", pretty(thing))
    if isinstance(thing, pd.DataFrame):
        for how in ("to_csv", "to_html", "to_json"):
            dated = {"date_format": "iso"} if how == "to_json" else {}
            shown.add(how, getattr(thing, how)(**dated))
        shown.add("attrs", thing.attrs)
    elif type(thing).__module__.startswith(("confkit", "ipywidgets", "matplotlib")):
        formats, _ = DisplayFormatter().format(thing, exclude={"image/png", "image/jpeg"})
        shown.add("displayed", formats)
        members(shown, thing)
    if isinstance(thing, list | tuple) and not hasattr(thing, "_fields"):
        for one in thing[:3]:
            value(shown, one)
    if hasattr(thing, "findobj"):  # a figure: all that is written in it
        shown.add(
            "figure",
            [part.get_text() for part in thing.findobj(lambda part: hasattr(part, "get_text"))],
        )


def error(shown: Shown, raised: BaseException, modes: tuple[str, ...] = ()) -> None:
    """All that is shown of an exception: its texts, notes and chain, with locals, by IPython."""
    for link in chain(raised):
        shown.add("error", f"{link} {link!r} {link.args!r} {getattr(link, '__notes__', '')}")
        shown.add("error's members", getattr(link, "__dict__", ""))
        members(shown, link)
        link.__traceback__ = without_own_frames(link.__traceback__)
        carried = getattr(link, "__dict__", {}).values()
        if isinstance(link, ck.ConfkitError) and not any(
            isinstance(one, ck.Device | ck.Report)
            for one in carried  # for code, with their secrets
        ):
            shown.add("error, pickled", pickle.dumps(link).decode("latin-1"))
    told = traceback.TracebackException.from_exception(raised, capture_locals=True)
    shown.add("traceback with locals", "".join(told.format()))
    for mode in modes:
        shown.add(f"traceback of IPython ({mode})", by_ipython(raised, mode))


def everything_of(raised: BaseException) -> str:
    """All that is shown of an exception, in one text."""
    shown = Shown()
    error(shown, raised, ("Verbose",))
    return "\n".join(text for _, text in shown.texts)


def chain(raised: BaseException) -> list[BaseException]:
    """The error with its causes and contexts, suppressed ones too."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [raised]
    while waiting:
        link = waiting.pop()
        if link is not None and link not in found:
            found.append(link)
            waiting += [link.__cause__, link.__context__]
            waiting += getattr(link, "exceptions", ())
    return found


def without_own_frames(trace: Any) -> Any:
    """The traceback from the first frame that is not of the tests, whose locals hold the marks."""
    while trace and trace.tb_frame.f_code.co_filename.startswith(HERE):
        trace = trace.tb_next
    return trace


def by_ipython(raised: BaseException, mode: str) -> str:
    """The traceback as a notebook shows it in one of IPython's modes."""
    import IPython
    from IPython.core.ultratb import FormattedTB

    plain = {"color_scheme": "NoColor"} if IPython.version_info[0] < 9 else {}
    made = FormattedTB(mode=mode, **plain)
    made.ostream = out = io.StringIO()
    made.handler((type(raised), raised, raised.__traceback__))
    return out.getvalue()


@contextlib.contextmanager
def watching(shown: Shown) -> Iterator[None]:
    """Keeps what is printed, warned of and logged meanwhile, the root logger at DEBUG."""
    out, log = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)r"))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            yield
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
        shown.add("printed", out.getvalue())
        shown.add("logged", log.getvalue())
        shown.add("warnings", [str(one.message) for one in warned])


def calls(shown: Shown, client: ck.Client, made: list[ck.Call]) -> None:
    """The client itself, and all forms of these calls."""
    shown.add("client", repr(client))
    for call in made:
        shown.add("a call", f"{call!r} {tuple(call)!r} {call.fields!r}")
        shown.add("a call as curl", call.as_curl())
        shown.add("a call as Python", call.as_python())
        shown.add("a call, pickled", pickle.dumps(tuple(call)).decode("latin-1"))
    if made:
        value(shown, ck.calls_frame(made))


def drive(
    shown: Shown, action: Callable[[], Any], modes: tuple[str, ...] = ()
) -> tuple[Any, BaseException | None]:
    """Carries it out and keeps all that shows; gives the result, or the error that came of it."""
    result: Any = None
    failure = None
    with watching(shown):
        try:
            result = action()
        except BaseException as raised:  # noqa: BLE001  # Ctrl-C and SystemExit are outcomes here
            failure = raised
        else:
            value(shown, result)
        if failure is not None:
            error(shown, failure, modes)
    return result, failure
