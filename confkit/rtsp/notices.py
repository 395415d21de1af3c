"""What works, or does not matter to the verdict, and deserves attention all the same."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from importlib.util import find_spec

from .conversation import Conversation
from .report import Notice, Snapshot

_FULL_HD = 1920 * 1088
_OWN = "The address is this machine's own: only a service on this machine reaches it"
_PRIVATE = "The address is a private one: only a service in the same network reaches it"


def notices(camera: Conversation, snapshot: Snapshot | None) -> Iterator[Notice]:
    """Yield a notice for each thing that somebody may want to change."""
    reception = camera.reception
    if reception is None or not reception.packets:
        return
    if private := _private(camera.address.host):
        yield Notice("private_address", "note", f"{private}.")
    if camera.transport == "udp" and camera.switched:
        text = "refuses RTP over TCP (461), so UDP was used: firewalls often block that"
        yield Notice("transport_switched", "note", f"The camera {text}.")
    if camera.authentication == "Basic" and camera.address.scheme == "rtsp":
        text = "wants its password readable (Basic): switch it to Digest"
        yield Notice("basic_authentication", "note", f"The camera {text}.")
    if reception.keyframe and find_spec("av") is None:
        text = "was not decoded, for PyAV is missing: pip install 'confkit-notebooks[cameras]'"
        yield Notice("not_decoded", "note", f"The keyframe came whole but {text}.")
    if reception.codec == "h265":
        text = "H.265, which many browsers in a room do not play: H.264 is safe"
        yield Notice("h265", "warning", f"The video is {text}.")
    if snapshot and snapshot.width * snapshot.height > _FULL_HD:
        size = f"{snapshot.width} x {snapshot.height}"
        text = "more than 1080p costs every viewer much; the camera's second stream may do"
        yield Notice("large_picture", "warning", f"The picture is {size}: {text}.")


def _private(host: str) -> str:
    """Return why few services reach a host, "" where that does not show; nothing is looked up."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _OWN if host.lower() == "localhost" else ""
    if address.is_loopback:
        return _OWN
    return _PRIVATE if address.is_private else ""
