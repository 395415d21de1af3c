"""A runbook in a notebook: it shows each check as it comes, and the verdict of all."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..checklist import Check
from ..errors import ConfigError
from .scenes import SCENES
from .showing import Line, Outcome, show

if TYPE_CHECKING:
    from ..client import Client


def begin(name: str, client: Client) -> Runbook:
    """The runbook of this name on this service, which it shows in a line: nobody shall take one
    service for another."""
    if client.sandbox is not None:
        where = "the SANDBOX: nothing real is asked"
    else:
        access = "refused, read only" if client.read_only else "possible where a cell says so"
        where = f"{client.name}, a real service; changes are {access}"
    show(_Text(f"{name} on {where}"))
    return Runbook(name, client)


class Runbook:
    """The checks of one run, in `checks`."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self.client = client
        self._checks: list[Check] = []

    @property
    def checks(self) -> Outcome:
        """What was recorded so far."""
        return Outcome(self._checks)

    def show(self, checks: Iterable[Check]) -> None:
        """Record and show each check at once, as it comes from a function such as
        `runbook.nobody_can_join`. Ctrl-C reaches the function, which undoes what it has to."""
        waiting: Iterator[Check] = iter(checks)
        ended: BaseException | None = None
        while True:
            try:
                if ended is not None and isinstance(waiting, Generator):
                    check = waiting.throw(ended)
                else:
                    check = next(waiting)
            except StopIteration:
                return
            ended = None
            try:
                self.add(check)
            except KeyboardInterrupt as error:
                ended = error

    def add(self, *checks: Check) -> None:
        """Record checks that were made elsewhere, such as those of `ck.doctor`, and show them."""
        for check in checks:
            self._checks.append(check)
            show(Line(check))

    def passed(self, check: str) -> bool:
        """Whether this check was made, and passed."""
        return any(one.check == check and one.verdict == "PASS" for one in self._checks)

    def scene(self, wanted: str, **inputs: Any) -> dict[str, Any]:
        """Return the inputs. On a sandbox a scene is built first, whose inputs take the place of
        those that are empty; a real service is used as it is, which is a SKIP.

        ConfigError: there is no such scene."""
        build, scenes = SCENES[self.name]
        if wanted not in scenes.split():
            raise ConfigError(f"scene is {wanted!r}", f"There are {', '.join(scenes.split())}.")
        sandbox = self.client.sandbox
        if sandbox is None:
            self.add(Check("a scene to look at", "SKIP", f"{self.client.name} is used as it is"))
            return inputs
        show(_Text(f"the sandbox's scene: {wanted}"))
        with sandbox.connect() as owner:
            made = build(sandbox, owner, wanted, inputs)
        return {
            **made,
            **{name: value for name, value in inputs.items() if value or name not in made},
        }

    def verdict(self) -> Outcome:
        """All checks with their verdict, the last output of a runbook."""
        return self.checks


class _Text(str):
    """A line that shows as it is, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__
