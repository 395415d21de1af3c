"""From what was filled in to a client, and what its check found as HTML."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import profiles
from ..connect import SERVICE, connect, seconds
from ..dialect import CHOICES, Dialect

if TYPE_CHECKING:
    from ..checklist import Check
    from ..client import Client

T = TypeVar("T")

_LABELS = {
    "hash": "Hash", "signature": "Signed form", "token_parameter": "Token's name",
    "mcu_token_parameter": "Token's name in A5", "remove_token_parameter": "Token's name in B2",
    "result_field": "Result code of B", "item_keys": "Item keys of B3",
    "create_method": "Method of B1", "list_method": "Method of B3",
    "placement": "Parameters of a POST",
}  # fmt: skip
_TOKEN_NAMES = ("access_token", "access_tocken", "token")
_CHOICES = {**CHOICES, "remove_token_parameter": ("access_token", "accessToken")}


class Filled(NamedTuple):
    """What was filled in: a profile's name, or "" and a `service` of addresses and keys; the rest
    goes beyond what the profile or the environment says."""

    profile: str
    service: Mapping[str, str | None]
    dialect: Mapping[str, str]
    read_only: bool = False
    timeout: str = ""


def client_of(filled: Filled) -> tuple[Client, list[str]]:
    """The client that `connect` makes of this, and what that warned of; ConfigError as from there.

    What is left empty comes from the environment where no profile is chosen. Settings of the
    dialect are put over those of the profile.
    """
    options: dict[str, Any] = {"read_only": True} if filled.read_only else {}
    service: dict[str, Any] = {name: filled.service.get(name) or None for name in SERVICE}
    if filled.timeout.strip():
        options["timeout"] = seconds(filled.timeout, "timeout")
    if filled.profile == profiles.EMBEDDED:  # starts a service: too long to keep warnings away
        if filled.dialect:
            options["dialect"] = Dialect.of(filled.dialect)
        return connect(profiles.EMBEDDED, **options), []

    def connected() -> Client:
        if filled.dialect:
            stored = profiles.load(filled.profile).get("dialect", {}) if filled.profile else {}
            options["dialect"] = Dialect.of({**stored, **filled.dialect})
        if filled.profile:
            return connect(filled.profile, **options)
        return connect(**service, **options)

    return warned(connected)


def warned(action: Callable[[], T]) -> tuple[T, list[str]]:
    """What the action gives, and what it warned of, which is then not printed.

    For what takes milliseconds: meanwhile other threads' warnings are held, too.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    return result, list(dict.fromkeys(str(one.message) for one in caught))


def dialect_choices() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """For each setting of a dialect its label, and its choices as label and value; "" leaves it as
    it is."""
    usual = asdict(Dialect())
    return {
        name: (
            _LABELS[name],
            [
                (f"default ({value or 'the same'})", ""),
                *((one, one) for one in _CHOICES.get(name, _TOKEN_NAMES)),
            ],
        )
        for name, value in usual.items()
    }


def checks_html(checks: Iterable[Check], addresses: Iterable[str]) -> str:
    """What became of each interface, with a mark in words, and what to do."""
    told = (_check_html(*one) for one in zip(checks, addresses, strict=True))
    return f"<ul class='confkit-checks'>{''.join(told)}</ul>"


def _check_html(check: Check, address: str) -> str:
    words = {"PASS": ("good", "✓ well"), "SKIP": ("quiet", "not tried")}
    tone, word = words.get(check.verdict, ("bad", "✗ not well"))
    advice = f"<div>&rarr; {escape(check.advice)}</div>" if check.advice else ""
    return (
        f"<li><b>{escape(check.check.capitalize())}</b> "
        f"<span class='confkit-badge confkit-tone-{tone}'>{word}</span> "
        f"<span class='confkit-quiet'>{escape(address)}</span>"
        f"<div>{escape(check.found)}</div>{advice}</li>"
    )
