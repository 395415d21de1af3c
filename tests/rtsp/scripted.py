"""A camera that answers from a script: threads and sockets, and nothing of confkit's."""

import re
import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import confkit as ck
from tests.ports import HERE

SDP = b"v=0\r\ns=-\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"
DIGEST = 'Digest realm="r", nonce="n"'


@dataclass
class Request:
    """A request, on the connection of this `number`, from 1."""

    method: str
    url: str
    headers: dict[str, str]
    connection: socket.socket
    number: int

    def get(self, name):
        return self.headers.get(name.lower(), "")


class Last(bytes):
    """What a camera sends before it closes the connection."""


@dataclass
class Camera:
    """What the scripted camera has seen."""

    url: str
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0

    @property
    def methods(self):
        return [request.method for request in self.requests]

    @property
    def logins(self):
        """The methods of the requests with a login."""
        return [request.method for request in self.requests if request.get("Authorization")]


@contextmanager
def scripted(script, host=HERE, tls=None):
    """Play a camera: for each request the script gives bytes or a list of them, Last ones or b"" to
    close the connection, or None to keep silent. The client has to close all connections."""

    def accept():
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                camera.connections += 1
                camera.open_connections += 1
                threading.Thread(target=serve, args=[connection], daemon=True).start()

    def serve(plain):
        with suppress(OSError), plain, tls.wrap_socket(plain, True) if tls else plain as connection:
            talk(connection, camera.connections)
        camera.open_connections -= 1

    def talk(connection, number):
        with connection.makefile("rb") as stream:
            while line := stream.readline():
                words, headers = line.decode("latin-1").split(), {}
                if words[2:] != ["RTSP/1.0"]:  # a TLS greeting, for one
                    return
                while line := stream.readline().strip():
                    name, _, value = line.decode("utf-8", "surrogateescape").partition(":")
                    headers[name.lower()] = value.strip()
                request = Request(words[0], words[1], headers, connection, number)
                camera.requests.append(request)
                output = script(request)
                for part in output if isinstance(output, list) else [output or b""]:
                    connection.sendall(part)
                if output == b"" or isinstance(output, Last):
                    return

    with socket.create_server((host, 0)) as listener:
        camera = Camera(f"rtsp://{host}:{listener.getsockname()[1]}/live")
        threading.Thread(target=accept, daemon=True).start()
        yield camera
        until(lambda: camera.open_connections == 0)
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # which wakes accept


def tried(script, *login, scheme="rtsp", tls=None, **options):
    """The report of a scripted camera, or what was raised; and what the camera saw."""
    with scripted(script, tls=tls) as camera:
        try:
            url = camera.url.replace("rtsp", scheme, 1)
            report = ck.preflight(url, *login, **{"timeout": 5, **options})
        except BaseException as error:  # noqa: BLE001
            report = error
    return report, camera


def until(condition, seconds=30):
    """Wait for what becomes true by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.005)


# Scripts


def reply(request, status=200, body=b"", reason="Reason", **headers):
    lines = [f"RTSP/1.0 {status} {reason}", f"CSeq: {request.get('CSeq')}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


def willing(request):
    """Accept everything, and play nothing."""
    headers = {"OPTIONS": {"Public": "DESCRIBE, SETUP, PLAY, GET_PARAMETER"}}
    headers["SETUP"] = {"Transport": request.get("Transport"), "Session": "77;timeout=60"}
    body = SDP if request.method == "DESCRIBE" else b""
    return reply(request, body=body, **headers.get(request.method, {}))


def at(method, answer):
    """A script that answers one method in its own way and is willing otherwise."""
    return lambda request: answer(request) if request.method == method else willing(request)


def instead(method, status=200, body=b"", **more):
    """The same, with this answer."""
    return at(method, lambda request: reply(request, status, body, **more))


def wanting(accepted, offer=DIGEST):
    """A script that wants a login, and does with one what `accepted` does."""
    refused = instead("DESCRIBE", 401, WWW_Authenticate=offer)
    return lambda request: (accepted if request.get("Authorization") else refused)(request)


def playing(sent, codec=b"H264"):
    """A script that sends this after PLAY, of what it announces as this codec."""
    described = instead("DESCRIBE", body=SDP.replace(b"H264", codec))
    return lambda request: described(request) + sent * (request.method == "PLAY")


# Packets


def rtp(payload, marker, sequence, stamp):
    kind = 96 | marker << 7
    return struct.pack("!BBHII", 0x80, kind, sequence & 0xFFFF, stamp & 0xFFFFFFFF, 7) + payload


def framed(packet):
    """A packet as it travels inside the RTSP connection."""
    return b"$\0" + len(packet).to_bytes(2, "big") + packet


def packets(*payloads, marker=True, start=0, stamp=0):
    """Interleaved RTP packets, one a payload; `marker` is on each of them."""
    return b"".join(framed(rtp(p, marker, n, stamp)) for n, p in enumerate(payloads, start))


def picture(parts, start=0, stamp=9000):
    """The RTP packets of a picture with these payloads, a marker on the last."""
    last = len(parts) - 1
    return [rtp(part, n == last, start + n, stamp) for n, part in enumerate(parts)]


# Real pictures

NAMES = {"h264": "libx264", "h265": "libx265", "mjpeg": "mjpeg"}


@cache
def pictures(codec, x264="keyint=6"):
    """Twelve pictures of 128 x 96, a keyframe at 0 and 6: access units of Annex B, or JPEG."""
    import av

    context = av.CodecContext.create(NAMES[codec], "w")
    context.width, context.height, context.gop_size = 128, 96, 6
    context.framerate, context.time_base = Fraction(10), Fraction(1, 10)
    context.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    context.thread_count, context.max_b_frames = 1, 0
    quiet = "log-level=none:repeat-headers=1:pools=none:frame-threads=1:keyint=6:scenecut=0"
    context.options = {
        "h264": {"tune": "zerolatency", "x264-params": f"{x264}:sliced-threads=0"},
        "h265": {"preset": "ultrafast", "x265-params": f"{quiet}:bframes=0"},
        "mjpeg": {"huffman": "default", "force_duplicated_matrix": "1"},
    }[codec]
    source = av.open("testsrc2=size=128x96:rate=10", format="lavfi")
    units = []
    for number, drawn in zip(range(12), source.decode(video=0), strict=False):
        frame = drawn.reformat(format=context.pix_fmt)
        frame.pts, frame.time_base, frame.pict_type = number, context.time_base, 0
        units += map(bytes, context.encode(frame))
    return tuple(units + [bytes(packet) for packet in context.encode(None)])


def nals(unit):
    """The NAL units of an access unit."""
    return [nal for part in re.split(b"\0\0\1", unit) if (nal := part.rstrip(b"\0"))]


def payloads(codec, unit, limit=1400):
    """The RTP payloads of an access unit, none longer than the limit, as FFmpeg makes them."""
    import av

    sent = []
    size = {"packetsize": str(limit + 12)}
    with av.open(SimpleNamespace(write=sent.append), "w", format="rtp", options=size) as muxer:
        track = muxer.add_stream(NAMES[codec], 10)
        track.width, track.height = 128, 96
        track.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        packet = av.Packet(unit)
        packet.stream, packet.pts, packet.dts = track, 0, 0
        muxer.mux(packet)
    return [bytes(packet[12:]) for packet in sent if packet[1] != 200]


def stream(codec, limit=1400, start=0):
    """The RTP packets of the pictures."""
    sent = []
    for place, unit in enumerate(pictures(codec)):
        sent += picture(payloads(codec, unit, limit), start + len(sent), place * 9000)
    return sent
