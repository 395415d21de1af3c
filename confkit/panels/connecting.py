"""Connecting: a profile, or addresses and keys typed in; a test of them, and their client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .. import profiles
from ..connect import SERVICE, seconds
from ..deployment import service_answers
from ..dialect import Dialect
from ..errors import ConfigError, ConfkitError
from .arranging import block, button, check, choice, entry, row, shown, text
from .panel import Panel
from .parts import Field
from .service_form import Filled, checks_html, client_of, dialect_choices, warned
from .waiting import until_cancelled

if TYPE_CHECKING:
    from ..checklist import Checklist
    from ..client import Client

_ADDRESSED = "addresses and keys"
_SETTINGS = "More settings"


class ConnectPanel(Panel):
    """Chooses a service and tests it; `value` is its client, or None before `connect`.

    What is typed is never saved. A client that another one replaces is closed; a sandbox goes on,
    because other cells may use it.
    """

    def __init__(self) -> None:
        super().__init__("Connect", None)
        names, told, problem = _names()
        self.profile = choice("Service", [*map(_labelled, names), (_ADDRESSED, "")])
        self.fields = {
            "base_url": Field("Interface A (base_url)", "text", "http://conference.example:8080",
                              shows=True),
            "outgoing_url": Field("Interface B (outgoing_url)", "text",
                                  "http://conference.example:8050", shows=True),
            "access_key": Field("Access key", "text"),
            "secret_key": Field("Secret key", "password"),
        }  # fmt: skip
        for field in self.fields.values():
            field.add_class("confkit-grow")
        self.read_only = check("read only")
        self.timeout = entry("Time-out (s)", hint="5, 10", width="short")
        self.dialect = {
            name: choice(label, choices) for name, (label, choices) in dialect_choices().items()
        }
        self.result = text()
        self.service = block(
            "Addresses and keys", row(*self.fields.values()),
            text("<span class='confkit-quiet'>Nothing of this is saved. What is left empty comes "
                 "from the environment.</span>"),
        )  # fmt: skip
        self.settings = block(
            "More settings", row(self.timeout, *self.dialect.values()),
            text("<span class='confkit-quiet'>What this deployment does where the interface is "
                 "silent. A default leaves a profile's own setting as it is.</span>"),
        )  # fmt: skip
        self.more = button(_SETTINGS, lambda _: self.fold(self.settings.layout.display is None))
        self.shows(
            row(self.profile, button("Connect", self.clicked(self.connect, "connect"), "primary"),
                button("Test", self.clicked(self.test, "test")), self.read_only, self.more),
            self.service, self.settings, self.result,
        )  # fmt: skip
        self.profile.observe(lambda change: self._chose(change["new"]), "value")
        shown(self.service, False)
        self.fold(True)
        self.tell(problem or "\n".join(told), "bad" if problem else "", "profiles")

    def connect(self) -> Client:
        """The client of what is filled in, which is `value` from now on; nothing is sent yet."""
        with self.working("Connecting", "connect"):
            client, told = client_of(self._filled())
            before, self.value = self.value, client
            self.names(client)
            if before is not None:
                _let_go(before)
        done = f"Connected to {client.name}. Nothing was sent yet: Test asks both interfaces."
        self.tell("\n".join([done, *told]), "good", "connect")
        return client

    def test(self) -> Checklist:
        """What both interfaces say to what is filled in; `value` stays as it is.

        One failed login at most. Nothing is raised for a service that is down, ConfigError where
        something is missing or wrong.
        """
        self.result.value = ""
        with self.working("Asking both interfaces", "test") as work:
            filled = self._filled()
            client, told = client_of(filled)
            try:
                checks = until_cancelled(lambda: service_answers(client), work.cancelled)
            finally:
                _let_go(client)
        well = checks.ok
        said = f"{client.name} answers." if well else f"{client.name}: not all is well."
        if filled[:2] == self._filled()[:2]:
            self.result.value = checks_html(checks, (client.base_url, client.outgoing_url))
            said += "" if well else " See below."
        else:
            said += " Another service was filled in meanwhile: test that one."
        self.tell("\n".join([said, *told]), "good" if well else "bad", "test")
        return checks

    def fill(
        self,
        profile: str | None = None,
        *,
        base_url: str | None = None,
        outgoing_url: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        dialect: Dialect | Mapping[str, object] | None = None,
        timeout: float | tuple[float, float] | None = None,
        read_only: bool | None = None,
    ) -> None:
        """Fill in what is given; the rest stays. ConfigError: no such profile, or no such setting
        of a dialect. An address or a key chooses the service by these."""
        given = dict(zip(SERVICE, (base_url, outgoing_url, access_key, secret_key), strict=True))
        given = {name: value for name, value in given.items() if value is not None}
        chosen = "" if given and profile is None else profile
        if isinstance(dialect, Mapping):
            dialect = Dialect.of(dialect)
        if not isinstance(dialect, Dialect | None):
            raise ConfigError(
                f"dialect is {dialect!r}", "Give a Dialect, or a dict of its settings."
            )
        both = timeout if isinstance(timeout, tuple) else (timeout,)
        if timeout is not None:
            seconds(", ".join(map(str, both)), "timeout")
        known = [value for _, value in self.profile.options]
        if chosen is not None and chosen not in known:
            raise ConfigError(
                f"there is no profile {chosen!r} here",
                f"There are {', '.join(filter(None, known))}. "
                f"`confkit profile add {chosen}` makes it; then make the panel anew.",
            )
        for name, value in given.items():
            self.fields[name].fill(value)
        if dialect is not None:
            self._fill_dialect(dialect.changes())
        if timeout is not None:
            self.timeout.value = ", ".join(f"{seconds:g}" for seconds in both)
        if read_only is not None:
            self.read_only.value = read_only
        if chosen is not None:
            self.profile.value = chosen

    def fold(self, whether: bool) -> None:
        """Fold time-out and dialect away, or unfold them."""
        shown(self.settings, not whether)
        self.more.description = _SETTINGS if whether else "Fewer settings"

    def _chose(self, profile: str) -> None:
        shown(self.service, not profile)
        self.result.value = ""  # it was found of another service

    def _fill_dialect(self, changes: Mapping[str, object]) -> None:
        for name, menu in self.dialect.items():
            value = str(changes.get(name, ""))
            if value not in [one for _, one in menu.options]:  # a token's name of this deployment
                menu.options = [*menu.options, (value, value)]
            menu.value = value

    def _filled(self) -> Filled:
        return Filled(
            self.profile.value,
            {name: field.text for name, field in self.fields.items()},
            {name: menu.value for name, menu in self.dialect.items() if menu.value},
            self.read_only.value,
            self.timeout.value,
        )


def _names() -> tuple[list[str], list[str], str]:
    """The profiles, what reading them warned of, and what went wrong."""
    try:
        return *warned(profiles.names), ""
    except ConfkitError as error:
        return [profiles.EMBEDDED], [], str(error)


def _labelled(name: str) -> tuple[str, str]:
    inside = " (built in)" if name == profiles.EMBEDDED else ""
    return f"{name}{inside}", name


def _let_go(client: Client) -> None:
    if client.sandbox is None:
        client.close()
    else:
        client.session.close()  # close() would end the sandbox for everybody
