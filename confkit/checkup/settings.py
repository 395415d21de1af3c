"""What the settings say by themselves, before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..address import Address
from ..endpoints import ENDPOINTS, Interface

if TYPE_CHECKING:
    from ..checklist import Check
    from .case import Case

PORTS: dict[Interface, int] = {"A": 8080, "B": 8050}  # specified: the head of the interface
_PATHS = frozenset(
    "/".join(endpoint.path.split("/")[:end])
    for endpoint in ENDPOINTS.values() for end in range(2, endpoint.path.count("/") + 2)
)  # fmt: skip


def settings(case: Case, name: str) -> Check:
    """Whether the two addresses can be right, and where each setting came from."""
    client = case.client
    told = "; ".join(
        f"{setting} {value}{_origin(case, setting)}"
        for setting, value in (
            ("base_url", client.base_url), ("outgoing_url", client.outgoing_url),
            ("access_key", "is given"), ("secret_key", "is given"),
        )
    )  # fmt: skip
    for setting, url in (("base_url", client.base_url), ("outgoing_url", client.outgoing_url)):
        path = urlsplit(url).path
        if path in _PATHS:
            return case.check(
                name, "FAIL", f"{told}. {setting} ends with {path}, which the client adds itself.",
                f"Set {setting} to {url.removesuffix(path)} instead.",
            )  # fmt: skip
    if (_port(client.base_url), _port(client.outgoing_url)) == (PORTS["B"], PORTS["A"]):
        return case.check(
            name, "FAIL",
            f"{told}. The ports have changed places: the interface has A on {PORTS['A']} and B on "
            f"{PORTS['B']} (specified).",
            f"Set base_url to {client.outgoing_url} and outgoing_url to {client.base_url} instead.",
        )  # fmt: skip
    return case.check(name, "PASS", f"{told}.", " ".join(_notes(case)))


def _origin(case: Case, setting: str) -> str:
    origin = case.client.origins.get(setting)
    return f" ({origin})" if origin else ""


def _port(url: str) -> int | None:
    parts = urlsplit(url)
    return parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _notes(case: Case) -> list[str]:
    """What is unusual, and may be meant."""
    a, b = urls = case.client.base_url, case.client.outgoing_url
    notes = []
    if a == b:
        notes.append("Both interfaces have one address, which is right only behind a proxy.")
    elif urlsplit(a).hostname != urlsplit(b).hostname:
        notes.append("The two interfaces are on different hosts.")
    for setting, url in zip(("base_url", "outgoing_url"), urls, strict=True):
        if urlsplit(url).path:
            notes.append(f"{setting} has a path, which is right only behind a proxy.")
        if urlsplit(url).port is None:
            scheme = urlsplit(url).scheme
            notes.append(f"{setting} names no port, so it is {_port(url)}, that of {scheme}.")
    origins = [case.client.origins.get(setting, "") for setting in ("base_url", "outgoing_url")]
    a_kind, b_kind = ("a variable" if name.startswith("CONFKIT_") else name for name in origins)
    if a_kind != b_kind:
        notes.append("The two addresses come from different places: see that they belong together.")
    plain = [
        setting for setting, url in zip(("base_url", "outgoing_url"), urls, strict=True)
        if url.startswith("http:") and not Address.parse(url, setting).loopback
    ]  # fmt: skip
    if plain:
        notes.append(f"Tokens can be read on the way: http in {' and '.join(plain)}.")
    return notes
