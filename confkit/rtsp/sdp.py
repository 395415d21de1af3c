"""Session descriptions (SDP) as far as RTSP cameras need them.  No I/O."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# Payload types that need no rtpmap line (RFC 3551).
_STATIC = {
    0: ("PCMU", 8000),
    8: ("PCMA", 8000),
    26: ("JPEG", 90000),
    31: ("H261", 90000),
    32: ("MPV", 90000),
    33: ("MP2T", 90000),
    34: ("H263", 90000),
}
_BESIDE = ("RTX", "RED", "ULPFEC", "FLEXFEC")  # travel beside a video, and are none
_DYNAMIC = 96  # payload types from here on mean what their rtpmap line says
_PARAMETER_SETS = ("sprop-vps", "sprop-sps", "sprop-pps", "sprop-parameter-sets")


@dataclass(frozen=True)
class Media:
    """One medium; the clock rate is in hertz, `encoding` is the upper-case RTP name."""

    kind: str
    payload_type: int
    encoding: str
    clock_rate: int
    parameters: Mapping[str, str] = field(default_factory=dict)
    control: str = ""

    @property
    def parameter_sets(self) -> tuple[bytes, ...]:
        """The H.264 or H.265 parameter sets, without start codes; undecodable ones left out."""
        texts = [self.parameters.get(name, "") for name in _PARAMETER_SETS]
        decoded = [_decode(text.strip()) for joined in texts for text in joined.split(",")]
        return tuple(nal for nal in decoded if nal)


@dataclass(frozen=True)
class Description:
    """A whole session description."""

    media: tuple[Media, ...]
    control: str = "*"


def parse_sdp(body: bytes) -> Description:
    """Return the description; raises ValueError when the text is no SDP or is cut off."""
    text = re.sub("[\r\0\ufeff]", "", body.decode("utf-8", "replace")).strip()
    lines = [line.strip() for line in text.split("\n")]
    if not text:
        raise ValueError("The session description is empty.")
    if lines[0] != "v=0":
        raise ValueError("The session description does not start with v=0.")
    sections: list[list[tuple[str, str]]] = [[]]
    for line in lines:
        key, _, value = line.partition("=")
        if len(key) != 1:  # makers add lines of their own, which players pass over
            continue
        if key == "m":
            sections.append([])
        sections[-1].append((key, value))
    session, *media = sections
    if not media and "t" not in dict(session):
        raise ValueError("The session description is cut off before its first medium.")
    return Description(
        tuple(_parse_media(section) for section in media),
        _attributes(session).get("control", ""),
    )


def control_url(base: str, control: str) -> str:
    """Return the URL that a control attribute names, joined the way cameras expect.

    That is plain concatenation, after a query too; resolving it by RFC 3986 loses the query.
    """
    if control in ("", "*"):
        return base
    if re.match(r"rtsps?://", control, re.IGNORECASE):
        return control
    return base.rstrip("/") + "/" + control.lstrip("/")


def _parse_media(section: list[tuple[str, str]]) -> Media:
    fields = section[0][1].split()
    kind = fields[0] if fields else ""
    formats = [int(text) for text in fields[3:] if re.fullmatch("[0-9]{1,3}", text)]
    if not formats and "video".startswith(kind):
        raise ValueError("A media line of the session description is cut off.")
    attributes = _attributes(section)
    coded = {number: _coding(number, attributes) for number in formats}
    number = next(
        (n for n, (name, _) in coded.items() if name not in _BESIDE), *formats[:1] or [-1]
    )
    encoding, clock_rate = coded.get(number, ("", 90000))
    if kind == "video" and not encoding and number >= _DYNAMIC:
        raise ValueError(f"The session description does not say what its payload type {number} is.")
    pairs = [part.partition("=") for part in attributes.get(f"fmtp:{number}", "").split(";")]
    parameters = {name.strip().lower(): value.strip() for name, _, value in pairs if name.strip()}
    control = attributes.get("control", "")
    return Media(kind, number, encoding, clock_rate, parameters, control)


def _coding(number: int, attributes: Mapping[str, str]) -> tuple[str, int]:
    """Return the encoding of a payload type, "" where it is not told, and its clock rate."""
    mapping = re.match(r"([^/\s]+)/([0-9]{1,9})(?![0-9])", attributes.get(f"rtpmap:{number}", ""))
    if mapping:
        return mapping[1].upper(), int(mapping[2]) or 90000
    return _STATIC.get(number, ("", 90000))


def _attributes(section: list[tuple[str, str]]) -> dict[str, str]:
    """Return attributes by name; rtpmap and fmtp by name and payload type."""
    found: dict[str, str] = {}
    for key, value in section:
        if key == "a":
            name, _, rest = value.partition(":")
            if name in ("rtpmap", "fmtp"):
                number, rest = [*rest.split(None, 1), "", ""][:2]
                name = f"{name}:{number}"
            found.setdefault(name, rest.strip())
    return found


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
