"""Session descriptions (SDP) as far as RTSP cameras need them.  No I/O."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# The codecs of this package and their names in RTP.
ENCODINGS = {"h264": "H264", "h265": "H265", "mjpeg": "JPEG"}
# Payload types that need no rtpmap line (RFC 3551).
_STATIC = {0: "PCMU", 8: "PCMA", 26: "JPEG", 31: "H261", 32: "MPV", 33: "MP2T", 34: "H263"}
_BESIDE = ("RTX", "RED", "ULPFEC", "FLEXFEC")  # travel beside a video, and are none
_DYNAMIC = 96  # payload types from here on mean what their rtpmap line says
_PARAMETER_SETS = ("sprop-vps", "sprop-sps", "sprop-pps", "sprop-parameter-sets")
# Those of a payload type have its number in their name here: "rtpmap:96".
_ATTRIBUTE = re.compile(r"^a=((?:rtpmap|fmtp):[ \t]*\S*|[^:\n]*):?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Media:
    """One medium; `encoding` is the upper-case RTP name."""

    kind: str
    payload_type: int
    encoding: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    control: str = ""

    @property
    def codec(self) -> str:
        """The codec, a key of ENCODINGS, or "" for another one."""
        return next((codec for codec, name in ENCODINGS.items() if name == self.encoding), "")

    @property
    def parameter_sets(self) -> tuple[bytes, ...]:
        """The H.264 or H.265 parameter sets, without start codes; undecodable ones left out."""
        texts = ",".join(self.parameters.get(name, "") for name in _PARAMETER_SETS)
        decoded = [_decode(text.strip()) for text in texts.split(",")]
        return tuple(nal for nal in decoded if nal)


@dataclass(frozen=True)
class Description:
    """A whole session description."""

    media: tuple[Media, ...]
    control: str = "*"


def parse_sdp(body: bytes) -> Description:
    """Return the description; raises ValueError when the text is no SDP or is cut off."""
    text = re.sub("[\r\0\ufeff]", "", body.decode("utf-8", "replace")).strip()
    if not text:
        raise ValueError("The session description is empty.")
    lines = [line.strip() for line in text.split("\n")]
    if lines[0] != "v=0":
        raise ValueError("The session description does not start with v=0.")
    session, *media = re.split(r"\n(?=m=)", "\n".join(lines))
    if not media and "\nt=" not in session:
        raise ValueError("The session description is cut off before its first medium.")
    return Description(tuple(map(_parse_media, media)), _attributes(session).get("control", ""))


def control_url(base: str, control: str) -> str:
    """Return the URL that a control attribute names, joined the way cameras expect.

    That is plain concatenation, after a query too; resolving it by RFC 3986 loses the query.
    """
    if control in ("", "*"):
        return base
    if re.match(r"rtsps?://", control, re.IGNORECASE):
        return control
    return base.rstrip("/") + "/" + control.lstrip("/")


def _parse_media(section: str) -> Media:
    kind, *fields = [*section.partition("\n")[0].removeprefix("m=").split(), ""]
    formats = [int(text) for text in fields[2:] if re.fullmatch("[0-9]{1,3}", text)]
    if not formats and "video".startswith(kind):
        raise ValueError("A media line of the session description is cut off.")
    attributes = _attributes(section)
    coded = {number: _encoding(number, attributes) for number in formats or [-1]}
    number = next((n for n, name in coded.items() if name not in _BESIDE), next(iter(coded)))
    encoding = coded[number]
    if kind == "video" and not encoding and number >= _DYNAMIC:
        raise ValueError(f"The session description does not say what its payload type {number} is.")
    pairs = [part.partition("=") for part in attributes.get(f"fmtp:{number}", "").split(";")]
    parameters = {name.strip().lower(): value.strip() for name, _, value in pairs}
    control = attributes.get("control", "")
    return Media(kind, number, encoding, parameters, control)


def _encoding(number: int, attributes: Mapping[str, str]) -> str:
    """Return the encoding of a payload type, "" where it is not told."""
    mapping = re.match(r"([^/\s]+)/[0-9]{1,9}(?![0-9])", attributes.get(f"rtpmap:{number}", ""))
    return mapping[1].upper() if mapping else _STATIC.get(number, "")


def _attributes(section: str) -> dict[str, str]:
    """Return attributes by name, the first of each; rtpmap and fmtp by name and payload type."""
    found = reversed(_ATTRIBUTE.findall(section))
    return {re.sub(r"\s", "", name): value.strip() for name, value in found}


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
