"""What kind of place a host is: this machine, its link, a private network, a cloud's metadata.

A camera's address comes from a table, a service or the camera before it. One that leads to a
cloud's metadata service would let whoever dials it ask there for the machine's own keys.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress

from .report import Notice

LOOPBACK, LINK_LOCAL, METADATA, PRIVATE = "loopback", "link-local", "metadata", "private"
IP = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = frozenset(map(ipaddress.ip_address, (
    "169.254.169.254", "fd00:ec2::254", "fd20:ce::254",  # most clouds; over IPv6
    "169.254.170.2", "169.254.170.23", "fd00:ec2::23",  # containers
    "100.100.100.200", "168.63.129.16", "192.0.0.192",  # Alibaba, Azure's platform, Oracle
)))  # fmt: skip
_METADATA_NAMES = frozenset({
    "metadata", "metadata.google.internal", "metadata.goog", "instance-data",
    "instance-data.ec2.internal",
})  # fmt: skip
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_OLD_FORMS = re.compile(r"[0-9a-fx.]+", re.IGNORECASE)  # 2852039166, 0xa9fea9fe, 0251.0376.1

_WHAT = {
    METADATA: "the address of a cloud's metadata service, which gives a machine's keys to who asks",
    LINK_LOCAL: "a link-local address, which only machines on the same cable or switch reach",
    LOOPBACK: "the machine's own address",
}
_ADVICE = {
    METADATA: "No camera is there: let no service dial it.",
    LINK_LOCAL: "Give the camera an address of your network, and import that.",
}
METADATA_ADDRESS, LINK_LOCAL_ADDRESS = "metadata_address", "link_local_address"
_KEYS = {METADATA: METADATA_ADDRESS, LINK_LOCAL: LINK_LOCAL_ADDRESS}


def kind(host: str) -> str:
    """Return "loopback", "link-local", "metadata" or "private", else ""; nothing is looked up."""
    address = literal(host)
    if address is None:
        name = _name(host)
        if name in _METADATA_NAMES:
            return METADATA
        if name == "localhost" or name.endswith(".localhost"):
            return LOOPBACK
        return PRIVATE if name.endswith(".local") else ""
    if address in _METADATA:
        return METADATA
    if address.is_loopback or address.is_unspecified:
        return LOOPBACK
    if address.is_link_local:
        return LINK_LOCAL
    return PRIVATE if address.is_private else ""


def literal(host: str) -> IP | None:
    """Return the address that a host is in digits, in every form that a system takes for one;
    None for a name. An IPv4 address inside an IPv6 one counts as itself."""
    name = _name(host)
    try:
        address: IP = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        if not _OLD_FORMS.fullmatch(name):
            return None
        try:
            return ipaddress.IPv4Address(socket.inet_aton(name))
        except OSError:
            return None
    if isinstance(address, ipaddress.IPv6Address):
        return _inside(address) or address
    return address


def named(kind: str) -> str:
    """Return in words what a place of this kind is."""
    return _WHAT[kind]


def guarded(hosts: Iterable[str], known: Iterable[str]) -> str:
    """Return the kind of place among `hosts` to which nobody who is at the `known` ones may lead,
    or ""."""
    reached = {kind(host) for host in known}
    found = {kind(host) for host in hosts} - reached
    return next((one for one in (METADATA, LINK_LOCAL, LOOPBACK) if one in found), "")


def place_notices(host: str, addresses: Iterable[str] = ()) -> Iterator[Notice]:
    """Yield the warning about a host that is no place for a camera, itself or by one of the
    `addresses` that its name has."""
    own = kind(host)
    if own in _KEYS:
        yield Notice(_KEYS[own], "warning", f"{host} is {_WHAT[own]}. {_ADVICE[own]}")
        return
    for address in addresses:
        there = kind(address)
        if there in _KEYS:
            told = f"The name {host} leads to {address}, {_WHAT[there]}. {_ADVICE[there]}"
            yield Notice(_KEYS[there], "warning", told)
            return


def described_notices(hosts: Iterable[str], host: str) -> Iterator[Notice]:
    """Yield the warning about what a camera's description names as its own address."""
    for other in hosts:
        there = kind(other)
        if there in _KEYS and there != kind(host):
            told = f"The camera's description names {other}, {_WHAT[there]}; nothing was sent there"
            yield Notice(f"described_{_KEYS[there]}", "warning", f"{told}. Others may follow it.")
            return


def is_place_notice(notice: Notice) -> bool:
    """Return whether a notice is about what kind of place an address is."""
    return notice.key in _KEYS.values()


def _name(host: str) -> str:
    """Return the host as a lookup takes it: digits of other scripts are digits there, too."""
    with suppress(UnicodeError):  # too long, or no name at all
        host = host.encode("idna").decode("ascii")
    return host.strip("[]").rstrip(".").lower()


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 one stands for: mapped, compatible, 6to4, NAT64."""
    found = address.ipv4_mapped or address.sixtofour
    if found is not None:
        return found
    low = int(address) & 0xFFFF_FFFF
    compatible = int(address) >> 32 == 0 and low > 1
    return ipaddress.IPv4Address(low) if compatible or address in _NAT64 else None
