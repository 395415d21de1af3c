"""How good a stream is, from its packets alone; and what deserves attention."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from . import places
from .address import Address
from .h26x import parameter_sets
from .pull import Stream
from .reception import Reception
from .report import Notice, Snapshot

_FULL_HD = 1920 * 1088
_SHORT, _LONG = 2.0, 4.0  # seconds between keyframes: people who join wait that long
_MUCH_LOSS = 0.01
_H264 = {66: "Baseline", 77: "Main", 88: "Extended", 100: "High", 110: "High 10",
         122: "High 4:2:2", 244: "High 4:4:4"}  # fmt: skip
_H265 = {1: "Main", 2: "Main 10", 3: "Main Still Picture", 4: "Range Extensions"}


class Quality(NamedTuple):
    """Frames and bits a second, the seconds between keyframes, the fraction of packets lost, the
    seconds that were seen, and whether pictures came in another order than they are shown in."""

    fps: float | None
    bit_rate: float | None
    keyframe_interval: float | None
    packet_loss: float
    seconds: float
    reordered: bool


def measured(reception: Reception) -> Quality:
    """Return the quality of what has arrived so far, by the camera's own clock."""
    times, keys = reception.times, reception.keyframe_times
    seconds = (max(times) - min(times)) / reception.media.clock_rate if times else 0.0
    expected = reception.packets + max(reception.lost, 0)
    steps = len(keys) - 1
    interval = (keys[-1] - keys[0]) / steps / reception.media.clock_rate if steps > 0 else None
    return Quality(
        (len(times) - 1) / seconds if seconds else None,
        8 * reception.octets / seconds if seconds else None,
        interval,
        max(reception.lost, 0) / expected if expected else 0.0,
        seconds,
        any(later < sooner for sooner, later in pairwise(times)),
    )


def profile(reception: Reception) -> str | None:
    """Return the profile that the parameter sets name, such as "High"."""
    if reception.codec == "mjpeg":
        return "Baseline"
    keyframe = reception.keyframe or b""
    sets = parameter_sets(reception.codec, keyframe) or list(reception.media.parameter_sets)
    if reception.codec == "h264":
        sps = next((nal for nal in sets if nal[0] & 31 == 7 and len(nal) > 3), None)
        name = _H264.get(sps[1]) if sps else None
        return f"Constrained {name}" if sps and sps[1] == 66 and sps[2] & 0x40 else name
    sps = next((nal for nal in sets if nal[0] >> 1 & 63 == 33 and len(nal) > 3), None)
    return _H265.get(sps[3] & 31) if sps else None


def notices(
    address: Address,
    stream: Stream,
    snapshot: Snapshot | None,
    quality: Quality | None,
    undecoded: bool,
) -> Iterator[Notice]:
    """Yield what works, or does not matter to the verdict, and deserves attention all the same."""
    handshake = stream.handshake
    yield from places.place_notices(address.host, handshake.addresses)
    yield from places.described_notices(handshake.named, address.host)
    if stream.reception is None:
        return
    place = places.kind(address.host)
    if place == places.LOOPBACK:
        yield Notice(
            "private_address", "note",
            "The address is this machine's own: only a service on this machine reaches it.",
        )  # fmt: skip
    elif place == places.PRIVATE:
        yield Notice(
            "private_address", "note",
            "The address is a private one: only a service in the same network reaches it.",
        )  # fmt: skip
    if stream.transport == "udp" and handshake.switched:
        yield Notice(
            "transport_switched", "note",
            "The camera refuses RTP over TCP (461), so UDP was used: firewalls often block that.",
        )  # fmt: skip
    if handshake.authentication == "Basic" and address.scheme == "rtsp":
        yield Notice(
            "basic_authentication", "note",
            "The camera wants its password readable (Basic): switch it to Digest.",
        )  # fmt: skip
    if undecoded:
        yield Notice(
            "not_decoded", "note",
            "The keyframe came whole but was not decoded, for PyAV is missing: "
            "pip install 'confkit-notebooks[lab]'.",
        )  # fmt: skip
    if stream.codec == "h265":
        yield Notice(
            "h265", "warning",
            "The video is H.265, which many browsers in a room do not play: H.264 is safe.",
        )  # fmt: skip
    if snapshot and snapshot.width * snapshot.height > _FULL_HD:
        yield Notice(
            "large_picture", "warning",
            f"The picture is {snapshot.width} x {snapshot.height}: more than 1080p costs every "
            "viewer much; the camera's second stream may do.",
        )  # fmt: skip
    if quality:
        yield from _of_quality(quality)


def _of_quality(quality: Quality) -> Iterator[Notice]:
    interval = quality.keyframe_interval
    if interval is None and quality.seconds > _SHORT * 0.9:
        yield Notice(
            "long_keyframe_interval", "warning" if quality.seconds > _LONG else "note",
            f"No second keyframe came in {quality.seconds:.1f} s: who joins waits for one; "
            "1 or 2 s is usual.",
        )  # fmt: skip
    elif interval is not None and interval > _SHORT:
        yield Notice(
            "long_keyframe_interval", "warning" if interval > _LONG else "note",
            f"A keyframe comes every {interval:.1f} s only: who joins waits for one; "
            "1 or 2 s is usual.",
        )  # fmt: skip
    if quality.reordered:
        yield Notice(
            "b_frames", "note",
            "The stream holds B-frames, which add delay: switch them off in the camera.",
        )  # fmt: skip
    if quality.packet_loss > 0:
        yield Notice(
            "packet_loss", "warning" if quality.packet_loss > _MUCH_LOSS else "note",
            f"{quality.packet_loss:.1%} of the packets were lost on the way.",
        )  # fmt: skip
