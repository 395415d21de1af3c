"""Pictures on their way: cut into packets, lost, doubled, out of order, and put together again."""

import tracemalloc
from collections.abc import Iterable
from functools import cache
from typing import Any

from hypothesis import strategies as st

from confkit.rtsp.h26x import LAYOUTS, join_nals
from confkit.rtsp.order import Sequencer
from confkit.rtsp.picture import encode_loop
from confkit.rtsp.reception import Reception, looks_like_picture
from confkit.rtsp.rtp import (
    ENCODINGS,
    MAX_UNIT,
    AccessUnit,
    Depacketiser,
    Packet,
    packetise,
    parse_packet,
)
from confkit.rtsp.sdp import Media

CODECS = ("h264", "h265", "mjpeg")
MEMORY = 20 * MAX_UNIT  # bytes: a picture may be held as many small parts

_KINDS = {"h264": (1, 5, 5, 6, 7, 8, 9, 10, 12), "h265": (1, 19, 20, 32, 33, 34, 35, 36, 39)}


def _nal(codec: str, kind: int, body: bytes) -> bytes:
    head = bytes([0x60 | kind]) if codec == "h264" else bytes([kind << 1, 1])
    # As an encoder writes it: no start code inside, no zero at the end.
    return head + body.replace(b"\0", b"\3")


def _units(codec: str) -> st.SearchStrategy[list[bytes]]:
    bodies = st.one_of(st.binary(min_size=1, max_size=40),
                       st.integers(1,
                       900).map(lambda size: bytes(i % 255 + 1 for i in range(size))))  # fmt: skip
    nals = st.builds(_nal, st.just(codec), st.sampled_from(_KINDS[codec]), bodies) | st.builds(
        _nal, st.just(codec), st.sampled_from(LAYOUTS[codec].bare), st.just(b"")
    )
    return st.lists(st.lists(nals, min_size=1, max_size=5).map(join_nals), min_size=1, max_size=6)


@cache
def _jpegs() -> tuple[bytes, ...]:
    return encode_loop("x", codec="mjpeg", size=(128, 96), fps=1).frames


STREAMS = st.sampled_from(CODECS).flatmap(
    lambda codec: st.tuples(
        st.just(codec),
        st.lists(st.sampled_from(_jpegs()), min_size=1, max_size=5)
        if codec == "mjpeg" else _units(codec),
    )
)  # fmt: skip
LIMITS = st.sampled_from([12, 12, 20, 40, 160, 161, 400, 65000]) | st.integers(10, 1400)
# What becomes of packets on the way, a place and a fate for each of some of them.
FATES = st.lists(
    st.tuples(
        st.sampled_from(["lost", "lost", "doubled", "late", "very late", "torn", "no marker"]),
        st.integers(0, 10_000),
    ),
    min_size=1,
    max_size=6,
)


def packets(codec: str, units: Iterable[bytes], limit: int, start: int) -> list[Packet]:
    """The packets of these pictures, their sequence numbers from `start` on."""
    flat = [
        (stamp, payload, index == len(payloads) - 1)
        for stamp, payloads in enumerate(packetise(codec, unit, limit) for unit in units)
        for index, payload in enumerate(payloads)
    ]
    return [
        Packet(
            96, marker, (start + number) & 0xFFFF, (2**32 - 6000 + stamp * 3000) % 2**32, 7, load
        )
        for number, (stamp, load, marker) in enumerate(flat)
    ]


def arrived(sent: list[Packet], fates: list[tuple[str, int]]) -> list[Packet]:
    """The packets as they arrive."""
    way = list(sent)
    for fate, place in fates:
        if len(way) < 2:
            break
        at = place % len(way)
        packet = way[at]
        if fate == "lost":
            del way[at]
        elif fate == "doubled":
            way.insert(min(len(way), at + 1 + place % 12), packet)
        elif fate in ("late", "very late"):
            del way[at]
            way.insert(min(len(way), at + (1 + place % 8 if fate == "late" else 30)), packet)
        elif fate == "no marker":
            way[at] = Packet(96, False, packet.sequence, packet.timestamp, 7, packet.payload)
    return way


def put_together(codec: str, way: Iterable[Packet], sets: Iterable[bytes] = ()) -> list[AccessUnit]:
    """What comes out of the packets, each of which goes over the wire as bytes."""
    sequencer, depacketiser = Sequencer(), Depacketiser(codec, sets)
    return [
        unit
        for packet in way
        for ordered in sequencer.push(parse_packet(packet.encode()))
        for unit in depacketiser.push(ordered)
    ]


def the_same_picture_or_none(
    stream: tuple[str, list[bytes]], limit: int, start: int, fates: list[tuple[str, int]]
) -> None:
    """Of pictures whose packets are lost, doubled or late, each comes out as it went in, or is not
    said to be whole. Without any of that all of them come out."""
    codec, units = stream
    limit = max(limit, 160) if codec == "mjpeg" else limit  # its tables travel in one packet
    sent = packets(codec, units, limit, start)
    assert all(len(packet.payload) <= limit for packet in sent)
    assert [parse_packet(packet.encode()) for packet in sent] == sent
    whole = {unit.timestamp: unit for unit in put_together(codec, sent)}
    assert len(whole) == len(units), f"{len(units)} pictures went in, {len(whole)} came out"
    for number, unit in enumerate(whole.values()):
        assert unit.complete
        if codec != "mjpeg":
            expected = units[number]
            assert unit.data.endswith(expected), "another picture without any loss"
            assert unit.keyframe or unit.data == expected
    way = arrived(sent, fates)
    # What was lost before the first packet came shows in no sequence number.
    torn = way[0].timestamp if way and way[0] != sent[0] else None
    for unit in put_together(codec, way):
        if unit.complete and unit.timestamp != torn:
            right = whole[unit.timestamp]
            same = _without_sets(codec, unit.data) == _without_sets(codec, right.data)
            assert same, f"picture {unit.timestamp} came out whole, and another"


def _without_sets(codec: str, data: bytes) -> list[bytes] | bytes:
    # Parameter sets that were lost with an earlier picture are not this one's.
    if codec == "mjpeg":
        return data
    layout = LAYOUTS[codec]
    nals = [nal for nal in data.split(b"\0\0\0\1") if nal]
    return [nal for nal in nals if layout.type_of(nal) not in layout.parameter_sets]


_PAYLOADS = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([
        b"", b"\x0a", b"\x65", b"\x1c\x85ab", b"\x1c\x05ab", b"\x1c\x45ab", b"\x18\0\x01\x65",
        b"\x18\0\0", b"\x18\xff\xff", b"\x19\0", b"\x7c\xc5", b"\x62\x01", b"\x62\x01\x93ab",
        b"\x62\x01\x53ab", b"\x60\x01\0\x02\x26\x01", b"\x26\x01ab", b"\x7f\x01\x02",
        b"\0\0\0\0\0\x32\x10\x0cab", b"\0\0\0\0\1\xff\x10\x0c\0\0\0\x80" + bytes(128) + b"ab",
        b"\0\0\0\2\0\x32\x10\x0cab", b"\0\0\0\0\x41\x32\x10\x0c\0\x08\xff\xffab",
        b"\0\0\0\0\0\x80\1\1",
    ]),
)  # fmt: skip
BEGINNINGS = (b"", b"\x65", b"\x1c\x85", b"\x26\x01", b"\x62\x01\x93", b"\0\0\0\0\0\x32\x10\x0c")
GARBAGE = st.lists(
    st.one_of(
        st.builds(
            lambda *parts: Packet(*parts).encode(),
            st.sampled_from([96, 96, 96, 8, 72]), st.booleans(), st.integers(0,
            40) | st.integers(0, 65535),
            st.integers(0, 3) | st.sampled_from([2**32 - 1]), st.integers(0, 2), _PAYLOADS,
        ),
        st.binary(max_size=30),
        st.tuples(st.sampled_from([0x80, 0x90, 0xA0, 0xB0, 0x8F, 0xBF, 0x81, 0xC8]),
                  st.binary(min_size=9,
                  max_size=40)).map(lambda parts: bytes([parts[0]]) + parts[1]),
    ),
    max_size=30,
)  # fmt: skip


def garbage_is_counted_or_passed_over(
    codec: str, datagrams: list[bytes], sets: list[bytes]
) -> None:
    """Datagrams of any kind never raise, and a whole keyframe is one that has a picture in it."""
    encoded: dict[str, Any] = {"sprop-parameter-sets": ""}
    media = Media("video", 96, ENCODINGS[codec], 90000, encoded)
    keyframes: list[bytes] = []
    reception = Reception(codec, media, keyframes.append, observed=True)
    taken = sum(reception.take(data) for data in datagrams)
    assert reception.packets <= taken <= len(datagrams)
    assert reception.lost >= 0
    assert 0 <= reception.pictures <= reception.packets
    assert all(keyframes)
    depacketiser = Depacketiser(codec, [nal for nal in sets if nal])
    for data in datagrams:
        looks_like_picture(codec, data)
        try:
            packet = parse_packet(data)
        except ValueError:
            continue
        assert len(packet.payload) <= len(data) - 12
        for unit in depacketiser.push(packet):
            assert unit.data


def pictures_without_end_are_bounded(codec: str, payload: bytes, step: int) -> None:
    """A camera that never ends a picture cannot make a stream hold more than a picture's worth."""
    media = Media("video", 96, ENCODINGS[codec], 90000)
    reception = Reception(codec, media, lambda _: None, observed=True)
    payload = payload + bytes(range(1, 256)) * 235
    tracemalloc.start()
    try:
        for number in range(200):
            packet = Packet(96, False, number * step & 0xFFFF, 1, 7, payload)
            reception.take(packet.encode())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < MEMORY, f"{held} bytes are held of one picture"


def a_picture_cut_at_the_limit_is_not_whole(codec: str, slices: int) -> None:
    """A picture that is larger than any may be is never said to be whole, its end included."""
    nal = _nal(codec, 5 if codec == "h264" else 19, b"\x55" * 60_000)
    size = MAX_UNIT // len(nal) + slices
    sent = [Packet(96, number == size - 1, number & 0xFFFF, 9, 7, nal) for number in range(size)]
    for unit in put_together(codec, sent):
        told = f"{len(unit.data)} of {size * len(nal)} bytes came out as whole"
        assert not unit.complete or len(unit.data) >= size * len(nal), told
