"""What kind of place a host is: this machine, its link, a private network, a cloud's metadata.

A camera's address comes from a table, a service or the camera before it. One that leads to a
cloud's metadata service would let whoever dials it ask there for the machine's own keys.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator

from .report import Notice

LOOPBACK, LINK_LOCAL, METADATA, PRIVATE = "loopback", "link-local", "metadata", "private"
METADATA_ADDRESS, LINK_LOCAL_ADDRESS = "metadata_address", "link_local_address"
WHAT = {
    METADATA: "the address of a cloud's metadata service, which gives a machine's keys to who asks",
    LINK_LOCAL: "a link-local address, which only machines on the same cable or switch reach",
}
_NOTICES = {
    METADATA: (METADATA_ADDRESS, "No camera is there: let no service dial it."),
    LINK_LOCAL: (
        LINK_LOCAL_ADDRESS,
        "Give the camera an address of your network, and import that.",
    ),
}
_METADATA = (
    *("169.254.169.254", "fd00:ec2::254", "fd20:ce::254"),  # most clouds
    *("169.254.170.2", "169.254.170.23", "fd00:ec2::23"),  # containers
    *("100.100.100.200", "168.63.129.16", "192.0.0.192"),  # Alibaba, Azure, Oracle
    *("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"),
    *("metadata", "instance-data"),
)


def kind(host: str) -> str:
    """Return "loopback", "link-local", "metadata" or "private", else ""; nothing is looked up."""
    name = host.strip("[]").rstrip(".").lower()
    try:  # digits in any form that this system takes
        found = socket.getaddrinfo(name.partition("%")[0], None, flags=socket.AI_NUMERICHOST)
        address = ipaddress.ip_address(found[0][4][0])
    except (OSError, UnicodeError, ValueError):
        if name in _METADATA:
            return METADATA
        if name == "localhost" or name.endswith(".localhost"):
            return LOOPBACK
        return PRIVATE if name.endswith(".local") else ""
    address = getattr(address, "ipv4_mapped", None) or address
    if str(address) in _METADATA:
        return METADATA
    if address.is_loopback or address.is_unspecified:
        return LOOPBACK
    if address.is_link_local:
        return LINK_LOCAL
    return PRIVATE if address.is_private else ""


def place_notices(host: str, *addresses: str) -> Iterator[Notice]:
    """Yield the warning about a host that is no place for a camera, itself or by one of the
    `addresses` that its name has."""
    for address in (host, *addresses):
        if notice := _NOTICES.get(there := kind(address)):
            named = f"{host} is" if address == host else f"The name {host} leads to {address},"
            yield Notice(notice[0], "warning", f"{named} {WHAT[there]}. {notice[1]}")
            return


def is_place_notice(notice: Notice) -> bool:
    """Return whether a notice is about what kind of place an address is."""
    return notice.key in (METADATA_ADDRESS, LINK_LOCAL_ADDRESS)
