"""What kind of place a host is: this machine, its link, a private network, a cloud's metadata.

A camera's address comes from a table, a service or the camera before it. One that leads to a
cloud's metadata service would let whoever dials it ask there for the machine's own keys.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Iterator

from .report import Notice

LOOPBACK, LINK_LOCAL, METADATA, PRIVATE = "loopback", "link-local", "metadata", "private"
WHAT = {
    METADATA: "the address of a cloud's metadata service, which gives a machine's keys to who asks",
    LINK_LOCAL: "a link-local address, which only machines on the same cable or switch reach",
    LOOPBACK: "the machine's own address",
}
METADATA_ADDRESS = "metadata_address"
_KEYS = {METADATA: METADATA_ADDRESS, LINK_LOCAL: "link_local_address"}
_ADVICE = {
    METADATA: "No camera is there: let no service dial it.",
    LINK_LOCAL: "Give the camera an address of your network, and import that.",
}
_METADATA = {
    "169.254.169.254",
    "fd00:ec2::254",
    "fd20:ce::254",  # most clouds; over IPv6
    "169.254.170.2",
    "169.254.170.23",
    "fd00:ec2::23",  # containers
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",  # Alibaba, Azure's platform, Oracle
    "metadata.google.internal",
    "metadata",
    "instance-data",  # names that few networks look up
    "metadata.goog",
    "instance-data.ec2.internal",
}


_NAT64 = int(ipaddress.IPv6Address("64:ff9b::"))


def kind(host: str) -> str:
    """Return "loopback", "link-local", "metadata" or "private", else ""; nothing is looked up."""
    name = host.strip("[]").rstrip(".").lower()
    address = _in_digits(name)
    if address is None:
        if name in _METADATA:
            return METADATA
        if name == "localhost" or name.endswith(".localhost"):
            return LOOPBACK
        return PRIVATE if name.endswith(".local") else ""
    if str(address) in _METADATA:
        return METADATA
    if address.is_loopback or address.is_unspecified:
        return LOOPBACK
    if address.is_link_local:
        return LINK_LOCAL
    return PRIVATE if address.is_private else ""


def guarded(hosts: Iterable[str], known: Iterable[str]) -> str:
    """Return the kind of place among `hosts` to which nobody who is at the `known` ones may lead,
    or ""."""
    found = {kind(host) for host in hosts} - {kind(host) for host in known}
    return next((one for one in (METADATA, LINK_LOCAL, LOOPBACK) if one in found), "")


def place_notices(
    host: str, addresses: Iterable[str] = (), described: Iterable[str] = ()
) -> Iterator[Notice]:
    """Yield the warning about a host that is no place for a camera, itself or by one of the
    `addresses` that its name has, and about what its description names as its own address."""
    for address in (host, *addresses):
        if (there := kind(address)) in _KEYS:
            named = f"{host} is" if address == host else f"The name {host} leads to {address},"
            told = f"{named} {WHAT[there]}. {_ADVICE[there]}"
            yield Notice(_KEYS[there], "warning", told)
            break
    for address in described:
        if (there := kind(address)) in _KEYS and there != kind(host):
            told = f"The camera's description names {address}, {WHAT[there]}; nothing was sent"
            told += " there. Others may follow it."
            yield Notice(f"described_{_KEYS[there]}", "warning", told)
            break


def is_place_notice(notice: Notice) -> bool:
    """Return whether a notice is about what kind of place an address is."""
    return notice.key in _KEYS.values()


def _in_digits(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address that digits mean, in any form that this system takes; None for a name."""
    try:
        found = socket.getaddrinfo(name.partition("%")[0], None, flags=socket.AI_NUMERICHOST)
        address = ipaddress.ip_address(found[0][4][0])
    except (OSError, UnicodeError, ValueError):
        return None
    return _inner(address) if isinstance(address, ipaddress.IPv6Address) else address


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the address of version four that one of version six leads to: mapped, by 6to4, by
    NAT64 or in the old compatible form."""
    number = int(address)
    compatible = number >> 32 in (0, _NAT64 >> 32) and number & 0xFFFFFFFF > 1  # not :: and ::1
    last = ipaddress.IPv4Address(number & 0xFFFFFFFF) if compatible else None
    return address.ipv4_mapped or address.sixtofour or last or address
