"""Session descriptions (SDP), as far as RTSP cameras use them. No I/O."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

# The codecs of this package and their names in RTP.
ENCODINGS = {"h264": "H264", "h265": "H265", "mjpeg": "JPEG"}
# Payload types that need no rtpmap line (RFC 3551).
_STATIC = {0: "PCMU", 8: "PCMA", 26: "JPEG", 32: "MPV", 33: "MP2T"}
DYNAMIC = 96  # payload types from here on are defined by their rtpmap line
_PARAMETER_SETS = ("sprop-vps", "sprop-sps", "sprop-pps", "sprop-parameter-sets")
# Here the name of a payload type's attribute includes its number: "rtpmap:96".
_ATTRIBUTE = re.compile(r"^a=((?:rtpmap|fmtp):[ \t]*\S*|[^:\n]*):?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Media:
    """One medium; `encoding` is the RTP name in upper case, `profile` RTP/AVP or RTP/AVPF."""

    kind: str
    payload_type: int
    encoding: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    control: str = ""
    profile: str = "RTP/AVP"
    encrypted: bool = False

    @property
    def codec(self) -> str:
        """The codec, a key of ENCODINGS, or "" if unsupported."""
        return next((codec for codec, name in ENCODINGS.items() if name == self.encoding), "")

    @property
    def parameter_sets(self) -> list[bytes]:
        """The H.264 or H.265 parameter sets, without start codes; undecodable ones are omitted."""
        decoded = []
        for name in _PARAMETER_SETS:
            for text in self.parameters.get(name, "").split(","):
                with suppress(ValueError):  # some cameras omit the padding
                    data = base64.b64decode(f"{text.strip()}==")
                    decoded += [nal.rstrip(b"\0") for nal in data.split(b"\0\0\1")]
        return [nal for nal in decoded if nal]


def parse_sdp(body: bytes) -> tuple[list[Media], str]:
    """Return the media and the session's control; ValueError if the description is invalid."""
    text = re.sub("[\r\0\ufeff]", "", body.decode("utf-8", "replace"))
    text = "\n".join(line.strip() for line in text.strip().split("\n"))
    if not text:
        raise ValueError("The session description is empty.")
    if not re.search(r"^(v=0$|m=)", text, re.MULTILINE):
        raise ValueError("The camera's response is not a session description.")
    session, *sections = re.split(r"(?:^|\n)(?=m=)", text)
    if not sections and "\nt=" not in session:
        raise ValueError("The session description is cut off before its first medium.")
    return [_parse_media(section) for section in sections], _attributes(session).get("control", "")


def control_url(base: str, control: str) -> str:
    """Return the URL of a control attribute, joined as cameras expect.

    That is plain concatenation, even after a query; resolving it by RFC 3986 loses the query.
    """
    if control in ("", "*"):
        return base
    if re.match(r"rtsps?://", control, re.IGNORECASE):
        return control
    return base.removesuffix("/") + "/" + control.removeprefix("/")


def _parse_media(section: str) -> Media:
    words = [*section.partition("\n")[0].removeprefix("m=").split(), *[""] * 4]
    kind, profile = words[0], words[2].upper()
    number = int(words[3]) if re.fullmatch("[0-9]{1,3}", words[3]) else -1
    if number < 0 and "video".startswith(kind):
        raise ValueError("A media line of the session description is cut off.")
    attributes = _attributes(section)
    name = re.match(r"[^/\s]+", attributes.get(f"rtpmap:{number}", ""))
    encoding = name[0].upper() if name else _STATIC.get(number, "")
    pairs = [part.partition("=") for part in attributes.get(f"fmtp:{number}", "").split(";")]
    return Media(
        kind,
        number,
        encoding,
        {name.strip().lower(): value.strip() for name, _, value in pairs},
        attributes.get("control", ""),
        profile if profile == "RTP/AVPF" else "RTP/AVP",
        encrypted="SAVP" in profile or "crypto" in attributes,
    )


def _attributes(section: str) -> dict[str, str]:
    """Return attributes by name, the first of each; rtpmap and fmtp by name and payload type."""
    pairs = reversed(_ATTRIBUTE.findall(section))
    return {re.sub(r"\s", "", name): value.strip() for name, value in pairs}
