"""What a probe has found: each answer with the exchange that shows it, and what stayed open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ..checklist import verdict_table
from ..dialect import Dialect
from ..errors import ConfigError
from ..text import as_it_is, as_json, one_line, printable

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ..calls import Call

ANSWER = 160  # characters of an answer in a text; as_json has more
_EXCHANGE = ("endpoint", "method", "url", "placement", "status", "ret", "answer", "error")


class Evidence(NamedTuple):
    """One `question` and its `answer`; `sure` is "seen" where the service showed it in `exchange`
    (masked), "open" where it could not be known."""

    question: str
    answer: str
    sure: Literal["seen", "open"]
    exchange: Call | None

    def __str__(self) -> str:
        shown = f"\n        {_exchange(self.exchange)}" if self.exchange else ""
        return f"{self.sure:<5} {one_line(f'{self.question}: {self.answer}')}{shown}"


@dataclass(frozen=True, slots=True)
class Probe:
    """How one service fills what the interface leaves open, and what shows it.

    `dialect` holds what was found; a setting not in `told` is as it was given, or as usual.
    `evidence` has a row for each question; `open` says what could not be known, and why. `calls`
    were sent, `failed_logins` of them are logins that failed or may have. `left` names what the
    probe made and could not remove: empty, unless the service failed meanwhile.
    """

    dialect: Dialect
    evidence: tuple[Evidence, ...]
    told: tuple[str, ...]
    calls: int
    failed_logins: int
    left: tuple[str, ...] = ()
    base_url: str = ""
    outgoing_url: str = field(default="", repr=False)

    @property
    def open(self) -> tuple[str, ...]:
        """What could not be known, and why."""
        return tuple(f"{row.question}: {row.answer}" for row in self.evidence if row.sure == "open")

    @property
    def exit_status(self) -> int:
        """0 where everything was found out, 2 where something is open or left."""
        return 2 if self.open or self.left else 0

    def save(self, profile_name: str, new: Mapping[str, Any] | None = None) -> Path:
        """Write what was found out into this profile's dialect; return the file of the profiles.

        Other settings of the profile stay as they are, and so does what was not told. Where there
        is no such profile it is made from the settings `new`. ConfigError: there is none and no
        `new`, or it is of another service.
        """
        from .. import profiles

        profiles.check_name(profile_name)
        made = new is not None and profile_name not in profiles.names()
        settings = dict(new or {}) if made else profiles.load(profile_name)
        for name in ("base_url", "outgoing_url"):
            if str(settings.get(name, "")).strip().rstrip("/") != getattr(self, name):
                raise ConfigError(
                    f"profile {profile_name!r} has another {name} than the service that was "
                    f"probed, {getattr(self, name)}",
                    "Make a profile for that one: confkit profile add NAME",
                )
        stored = Dialect.of(settings.get("dialect", {}))
        found = replace(stored, **{name: getattr(self.dialect, name) for name in self.told})
        return profiles.save(profile_name, {**settings, "dialect": found.changes()})

    def to_frame(self) -> pd.DataFrame:
        """One row per question: question, answer, sure, exchange (texts)."""
        import pandas as pd

        rows = [(*row[:3], _exchange(row.exchange)) for row in self.evidence]
        return pd.DataFrame(rows, columns=list(Evidence._fields), dtype="str")

    def as_json(self) -> str:
        """All of it as one JSON object; an exchange has method, url, status, ret and answer."""
        names = ("base_url", "outgoing_url", "told", "open", "calls", "failed_logins", "left")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        rows = [{**row._asdict(), "exchange": _parts(row.exchange)} for row in self.evidence]
        return as_json({**found, "dialect": asdict(self.dialect), "evidence": rows})

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return printable("\n".join([self._head(), *map(str, self.evidence), *self._foot()]))

    def _repr_html_(self) -> str:
        rows = [(row.sure, *row[:2], _exchange(row.exchange)) for row in self.evidence]
        heads = ("sure", "question", "answer", "exchange")
        texts = "".join(f"<p>{escape(line)}</p>" for line in (self._head(), *self._foot()))
        return as_it_is(texts + verdict_table(heads, rows, verdict=0, name=1))

    def _head(self) -> str:
        changes = ", ".join(f"{name}={value}" for name, value in self.dialect.changes().items())
        return f"{self.base_url}: {changes or 'the usual dialect'}"

    def _foot(self) -> Iterator[str]:
        failed = "login" if self.failed_logins == 1 else "logins"
        yield f"{self.calls} calls, {self.failed_logins} failed {failed}"
        yield from (one_line(f"LEFT: {what}") for what in self.left)


def _exchange(call: Call | None) -> str:
    """The exchange in one line, without the host, which all share."""
    if call is None:
        return ""
    sent = urlsplit(call.url)._replace(scheme="", netloc="").geturl()
    if call.placement != "query":
        sent += f" {call.placement} {json.dumps(call.fields, ensure_ascii=False)}"
    came = f"HTTP {call.status} {call.answer[:ANSWER]}" if call.status else "no answer"
    return one_line(f"{call.endpoint} {call.method} {sent} -> {came}")


def _parts(call: Call | None) -> dict[str, Any] | None:
    return {name: getattr(call, name) for name in _EXCHANGE} if call else None
