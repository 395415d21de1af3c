"""The fault zoo on the wire, as a bare socket sees it, and what ffprobe says of it."""

import inspect
import json
import shutil
import socket
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

import confkit.sandbox.cameras
from confkit.rtsp.address import parse_address
from confkit.rtsp.auth import Login, authorization, parse_challenges
from confkit.rtsp.h26x import LAYOUTS
from confkit.rtsp.message import Frame, Parser, Request, Response
from confkit.rtsp.picture import decode_frame
from confkit.rtsp.rtp import Depacketiser, parse_packet
from confkit.rtsp.sdp import parse_sdp
from confkit.rtsp.verdicts import VERDICTS
from confkit.sandbox import Sandbox
from tests.conftest import need

from .fakes import SMALL
from .zoo import ZOO

CERTIFICATE = Path(confkit.sandbox.cameras.__file__).with_name("worthless.pem")
LOGIN = Login("admin", "admin")
# Where a login is needed to see the fault.
WITH_LOGIN = {"auth_rejected", "stale_nonce", "closes_after_401"}


class Client:
    """A bare RTSP client on a blocking socket."""

    def __init__(self, url, tls=None):
        self.url, self.parser, self.session, self.waiting = url, Parser(), "", []
        address = parse_address(url)
        self.socket = socket.create_connection((address.host, address.port), 3)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=address.host)

    def next(self, kind):
        while not (found := [m for m in self.waiting if isinstance(m, kind)]):
            data = self.socket.recv(65536)
            if not data:
                return None
            self.waiting += self.parser.feed(data)
        self.waiting.remove(found[0])
        return found[0]

    def ask(self, method, *headers, url=None):
        given = [("CSeq", "1"), *headers, *([("Session", self.session)] if self.session else [])]
        self.socket.sendall(Request(method, url or self.url, headers=tuple(given)).encode())
        response = self.next(Response)
        if response and response.get("Session"):
            self.session = response.get("Session").partition(";")[0]
        return response

    def setup(self, transport="RTP/AVP/TCP;unicast;interleaved=0-1"):
        return self.ask("SETUP", ("Transport", transport), url=self.url + "/track1")

    def describe(self, after=None):
        """The answer to DESCRIBE, with the login that the answer `after` asks for."""
        if after is None:
            return self.ask("DESCRIBE")
        offers = parse_challenges(after.all("WWW-Authenticate"))
        return self.ask(
            "DESCRIBE",
            ("Authorization", authorization(offers[-1], LOGIN, "DESCRIBE", self.url)),
        )

    def packets(self, count):
        """Whether the connection still stands, and the packets that came, `count` at most."""
        found = []
        while len(found) < count:
            frame = self.next(Frame)
            if frame is None:
                return False, found
            found.append(parse_packet(frame.payload))
        return True, found


@contextmanager
def client(url, tls=None):
    made = Client(url, tls)
    with made.socket:
        yield made


@pytest.fixture(scope="module")
def zoo():
    with Sandbox(seed=1) as sandbox:
        yield sandbox


def start_line(url, first=10.0, seconds=1.0):
    """What a port sends, from within `first` seconds until it is silent for `seconds`, and whether
    it closes then."""
    address = parse_address(url)
    request = b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n"
    with socket.create_connection((address.host, address.port), 3) as bare:
        bare.sendall(request)
        bare.settimeout(first)
        data = b""
        with suppress(TimeoutError, ConnectionError):
            while more := bare.recv(4096):
                data += more
                bare.settimeout(seconds)
            return data, "closed"
        return data, "open"


def test_every_verdict_that_a_camera_can_cause_has_one():
    """Each verdict has a camera, but those that never reach one wire; some are shipped."""
    shown = {fault.verdict for fault in ZOO.values()}
    assert set(VERDICTS) - shown == {
        "url_malformed",
        "credentials_conflict",
        "service_cannot_reach",
    }
    shipped = Sandbox.camera_faults()
    assert {"wrong_path", "udp_blocked", "locked"} < set(shipped) < set(ZOO)
    assert all(fault.wire.endswith(".") for fault in shipped.values())


def test_the_parameters_of_a_camera_keep_their_order():
    """Path and login come first, then the picture, and the fault last; the rest is by name."""
    names = [*inspect.signature(Sandbox.camera).parameters][1:]
    assert names[:6] == ["path", "login_name", "login_password", "codec", "size", "fps"]
    assert names[6:] == [
        "keyframe_every",
        "auth",
        "fault",
        "name",
        "transports",
        "max_viewers",
        "tls",
    ]


def test_a_fault_has_its_own_name_and_that_of_its_verdict(zoo):
    """`locked` and `auth_locked` are one fault; an unknown one is an error that lists all."""
    for name in ("locked", "auth_locked"):
        with client(zoo.camera(fault=name, **SMALL)) as camera:
            assert camera.describe().reason == "Account Locked"
    for wrong in ("blue", "ok", "", 5, []):
        with pytest.raises(ValueError, match=r"no such fault.*camera_faults.*locked"):
            zoo.camera(fault=wrong)


@pytest.mark.parametrize(
    ("fault", "method", "status", "detail"),
    [
        ("auth_required", "DESCRIBE", 401, "Digest"),
        ("auth_unsupported", "DESCRIBE", 401, "Negotiate"),
        ("locked", "DESCRIBE", 403, "Account Locked"),
        ("forbidden", "DESCRIBE", 403, "Forbidden"),
        ("wrong_path", "DESCRIBE", 404, "Not Found"),
        ("wrong_path_400", "DESCRIBE", 400, "Bad Request"),
        ("wrong_path_454", "DESCRIBE", 454, "Session Not Found"),
        ("server_error", "DESCRIBE", 500, "Internal"),
        ("busy_503", "DESCRIBE", 503, "Unavailable"),
        ("busy", "SETUP", 453, "Bandwidth"),
        ("transport_refused", "SETUP", 461, "Transport"),
        ("setup_refused", "SETUP", 500, "Internal"),
        ("play_refused", "PLAY", 455, "State"),
    ],
)
def test_a_camera_refuses_with_a_status(zoo, fault, method, status, detail):
    """What comes before the refused method is accepted, and the refusal has its status."""
    with client(zoo.camera(fault=ZOO[fault], **SMALL)) as camera:
        assert camera.ask("OPTIONS").status == 200
        answers = {"DESCRIBE": camera.describe}
        if method != "DESCRIBE":
            answers |= {"SETUP": camera.setup, "PLAY": lambda: camera.ask("PLAY")}
        for name, ask in answers.items():
            response = ask()
            assert (name, response.status) == (name, status if name == method else 200)
            if name == method:
                break
        assert detail in response.reason + str(response.headers)


def test_a_login_that_is_rejected_once_and_for_all_or_only_once(zoo):
    """A rejected login gets 401 again, an outdated nonce 401 with stale=true and then 200."""
    with client(zoo.camera(fault="auth_rejected", **SMALL)) as camera:
        again = camera.describe(camera.describe())
        assert (again.status, "stale" in str(again.headers)) == (401, False)
    with client(zoo.camera(fault=ZOO["stale_nonce"], **SMALL)) as camera:
        again = camera.describe(camera.describe())
        assert (again.status, "stale=true" in str(again.headers)) == (401, True)
        assert camera.describe(again).status == 200


def test_a_camera_that_closes_after_its_401_answers_on_a_new_connection(zoo):
    """The connection ends with the 401; the same nonce opens the camera on the next one."""
    url = zoo.camera(fault=ZOO["closes_after_401"], **SMALL)
    with client(url) as first:
        asked = first.describe()
        assert (asked.status, first.next(Response)) == (401, None)
    with client(url) as second:
        assert second.describe(asked).status == 200


def test_the_given_login_is_that_of_the_faulty_camera(zoo):
    """A fault that comes after the login asks for the login that was given."""
    url = zoo.camera(None, "admin", "admin", fault=ZOO["forbidden"], **SMALL)
    with client(url) as camera:
        asked = camera.describe()
        assert (asked.status, camera.describe(asked).status) == (401, 403)


def test_redirects_lead_in_a_circle_or_to_a_stream(zoo):
    """`redirected` names an address that redirects again, `moved` one that answers."""
    for fault, status in (("redirected", 302), ("moved", 200)):
        with client(zoo.camera(fault=ZOO[fault], **SMALL)) as camera:
            away = camera.describe()
            assert (away.status, away.get("Location").startswith("rtsp://127.")) == (302, True)
            assert camera.ask("DESCRIBE", url=away.get("Location")).status == status


def test_descriptions_that_are_none(zoo):
    """200 with a description that is cut, empty or HTML, or without video, or of another codec."""
    bodies = {}
    for fault in (
        "sdp_invalid",
        "sdp_empty",
        "sdp_html",
        "no_video",
        "codec_unsupported",
        "wrong_codec",
        "private_base",
    ):
        with client(zoo.camera(fault=ZOO[fault], **SMALL)) as camera:
            response = camera.describe()
            assert response.status == 200
            bodies[fault] = response.body
    assert "192.168." in response.get("Content-Base")
    assert bodies["sdp_invalid"].endswith(b"m=video 0")
    assert bodies["sdp_empty"] == b""
    assert bodies["sdp_html"].startswith(b"<!DOCTYPE html>")
    media = {name: parse_sdp(bodies[name]).media[0] for name in list(bodies)[3:]}
    assert [(medium.kind, medium.encoding) for medium in media.values()] == [
        ("audio", "PCMU"),
        ("video", "MP4V-ES"),
        ("video", "H264"),
        ("video", "H264"),
    ]


def test_the_port_tells_what_is_behind_it(zoo):
    """HTTP, SSH, telnet and TLS greet or answer as they do; a silent port does neither."""
    seen = {
        fault: start_line(zoo.camera(fault=ZOO[fault]))
        for fault in ("not_rtsp", "ssh_port", "telnet_port", "tls_port", "closes_at_once")
    }
    silent = start_line(zoo.camera(fault="rtsp_silent"), first=1.0)
    drip, _ = start_line(
        zoo.camera(fault=ZOO["drip"]), seconds=0.5
    )  # half of its pause between bytes
    http = seen["not_rtsp"][0]
    assert http.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"Content-Length: %d\r\n" % len(http.partition(b"\r\n\r\n")[2]) in http
    assert seen["ssh_port"][0].startswith(b"SSH-2.0-")
    assert seen["telnet_port"][0].endswith(b"login: ")
    assert seen["tls_port"] == (b"\x15\x03\x03\x00\x02\x02\x0a", "closed")
    assert silent == (b"", "open")
    assert seen["closes_at_once"][0] == b""
    assert b"RTSP/1.0 200 OK".startswith(drip)
    assert 0 < len(drip) < 4


def test_ports_that_refuse_or_do_not_answer_stay_so(zoo):
    """Each of several attempts is refused, or times out, or finds no way."""
    refused, full, nowhere = (
        parse_address(zoo.camera(fault=ZOO[fault]))
        for fault in ("refused", "connect_timeout", "unreachable")
    )
    for _ in range(3):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((refused.host, refused.port), 3)
        with pytest.raises(TimeoutError):
            socket.create_connection((full.host, full.port), 0.3)
        with pytest.raises(OSError, match="unreachable"):
            socket.create_connection((nowhere.host, nowhere.port), 0.3)
    assert parse_address(zoo.camera(fault="dns_failed", **SMALL)).host.endswith(".invalid")


def test_tls_fails_without_trust_or_without_tls(zoo):
    """One camera has a certificate of its own making, the other has an rtsps address and no TLS."""
    strict = ssl.create_default_context()
    with pytest.raises(ssl.SSLCertVerificationError, match="self-signed"):
        Client(zoo.camera(fault="untrusted_certificate", **SMALL), strict)
    with pytest.raises(ssl.SSLError, match="WRONG_VERSION"):
        Client(zoo.camera(fault=ZOO["plain_port"], **SMALL), strict)


def test_an_rtsps_camera_plays_with_its_certificate(zoo):
    """`tls` gives a camera an rtsps address, and whoever trusts the certificate can watch it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    url = zoo.camera(tls=context, **SMALL)
    assert url.startswith("rtsps://")
    with client(url, ssl.create_default_context(cafile=CERTIFICATE)) as camera:
        assert (camera.describe().status, camera.setup().status) == (200, 200)
        assert camera.ask("PLAY").status == 200
        assert camera.packets(3)[0]


@pytest.mark.parametrize("fault", ["udp_blocked", "no_media"])
def test_play_is_accepted_and_nothing_comes(zoo, fault):
    """No packet comes over TCP, nor over UDP from a camera that offers UDP only."""
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        datagrams.settimeout(0.5)
        port = datagrams.getsockname()[1]
        with client(zoo.camera(fault=ZOO[fault], **SMALL)) as camera:
            if fault == "udp_blocked":
                assert camera.setup().status == 461
                udp = f"RTP/AVP;unicast;client_port={port}-{port + 1}"
                assert camera.setup(udp).status == 200
            else:
                assert camera.setup().status == 200
            assert camera.ask("PLAY").status == 200
            with pytest.raises(TimeoutError):
                datagrams.recv(2000)
            camera.socket.settimeout(0.1)
            with pytest.raises(TimeoutError):
                camera.next(Frame)


@pytest.mark.parametrize(
    ("fault", "lives", "least"),
    [
        ("dropped", False, 0),
        ("dropped_later", False, 3),
        ("no_keyframe", True, 40),
        ("no_picture", True, 40),
        ("wrong_codec", True, 40),
    ],
)
def test_what_is_played_is_no_picture(zoo, fault, lives, least):
    """The stream ends at once or soon, or plays without a keyframe that anybody can decode."""
    with client(zoo.camera(fault=ZOO[fault], fps=30, size=(320, 240))) as camera:
        described = parse_sdp(camera.describe().body)
        assert described.media[0].encoding == "H264"
        assert (camera.setup().status, camera.ask("PLAY").status) == (200, 200)
        stands, packets = camera.packets(60)  # half a second is 15, with the backlog of a second 45
        assert (stands, len(packets) >= least) == (lives, True)
        types = {LAYOUTS["h264"].whole_type_of(packet.payload) for packet in packets}
    steps = {(after.sequence - before.sequence) & 0xFFFF for before, after in pairwise(packets)}
    assert steps <= {1}
    if fault in ("no_keyframe", "dropped_later"):
        assert types == {1}
    if fault == "no_picture":
        depacketiser = Depacketiser("h264", described.media[0].parameter_sets)
        units = [unit for packet in packets for unit in depacketiser.push(packet)]
        whole = next(unit.data for unit in units if unit.keyframe and unit.complete)
        with pytest.raises(ValueError, match="does not decode"):
            decode_frame("h264", whole)


def test_a_camera_with_all_its_viewers_answers_453(zoo):
    """Who comes when `max_viewers` watch gets 453 at SETUP, or at PLAY; a place gets free again."""
    url = zoo.camera(max_viewers=1, **SMALL)
    with client(url) as first, client(url) as second, client(url) as third:
        assert (first.setup().status, second.setup().status) == (200, 200)
        assert first.ask("PLAY").status == 200
        assert (second.ask("PLAY").status, third.setup().status) == (453, 453)
        assert first.ask("TEARDOWN").status == 200
        assert (second.ask("PLAY").status, third.setup().status) == (200, 453)


def test_every_faulty_camera_can_be_unplugged(zoo):
    """unplug() takes the address that camera() gave, and frees the path or the port."""
    for fault in ("refused", "connect_timeout", "rtsp_silent", "wrong_path", "dns_failed", "busy"):
        url = zoo.camera("odd", fault=fault, **SMALL)
        zoo.unplug(url)
    assert zoo.camera("odd", **SMALL).endswith("/odd")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"codec": "vp8"}, "none of h264, h265, mjpeg"),
        ({"size": "640x360"}, r"such as \(640, 360\)"),
        ({"size": (640, 361)}, "steps of 2"),
        ({"size": (636, 360), "codec": "mjpeg"}, "steps of 8"),
        ({"fps": "15"}, "whole number from 1 to 60"),
        ({"keyframe_every": -1}, "up to 60 seconds"),
        ({"auth": "ntlm"}, "none of digest, sha-256, basic"),
        ({"auth": []}, "none of digest, sha-256, basic"),
        ({"transports": "tcp"}, "tcp"),
        ({"transports": ()}, "udp"),
        ({"transports": ["TCP"]}, "tcp"),
        ({"max_viewers": 0}, "above 0, nor None"),
        ({"tls": "cert.pem"}, "ssl.SSLContext"),
        ({"login_name": 5}, "texts"),
        ({"name": b"x"}, "texts"),
        ({"path": 5}, "such as /hall"),
        ({"path": "a b"}, "space"),
        ({"fault": "no_keyframe", "codec": "mjpeg"}, "h264 or h265"),
        ({"fault": "no_picture", "codec": "mjpeg"}, "h264 or h265"),
        ({"fault": "refused", "codec": "vp8"}, "none of h264"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_choices(zoo, wrong, said):
    """Whatever makes no sense is a ValueError that says what does, with the fault too."""
    with pytest.raises(ValueError, match=said):
        zoo.camera(**wrong)


# What ffprobe plays.
PLAYS = {"healthy", "untrusted_certificate", "moved", "private_base"}
EVERY_DAY = ["healthy", "moved", "auth_rejected", "wrong_path", "server_error"]


def look(name, url):
    """What ffprobe makes of an address: whether it sees a picture, and its last words."""
    command = [
        "ffprobe",
        "-v",
        "error",
        "-rtsp_transport",
        "tcp",
        "-timeout",
        "2000000",
        "-analyzeduration",
        "500000",
        "-select_streams",
        "v",
        "-show_entries",
        "frame=pict_type",
        "-read_intervals",
        "%+#1",
        "-of",
        "json",
        url,
    ]
    began, patience = time.monotonic(), 60 if name in PLAYS else 8
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return False, f"hangs until it is killed after {patience} s"
    line = (done.stderr.strip() or "not a word").splitlines()[-1].rpartition(": ")[2]
    seen = bool(json.loads(done.stdout or "{}").get("frames"))
    return seen, f"{line} (exit {done.returncode} after {time.monotonic() - began:.1f} s)"


def said(zoo, names):
    """ffprobe's words on these cameras, which it looks at side by side, by their faults."""
    need("ffprobe", shutil.which("ffprobe"), "apt-get install ffmpeg")
    urls = {name: zoo.camera(fault=ZOO.get(name)) for name in names}
    for name in WITH_LOGIN & set(names):
        urls[name] = urls[name].replace("//", "//admin:admin@")
    with ThreadPoolExecutor(12) as threads:
        return dict(zip(urls, threads.map(look, urls, urls.values()), strict=True))


@pytest.mark.timeout(600)  # some of them hang until they are killed
@pytest.mark.parametrize(
    "names",
    [
        EVERY_DAY,
        pytest.param(sorted({"healthy", *ZOO} - {*EVERY_DAY}), marks=pytest.mark.nightly),
    ],
    ids=["every day", "all others"],
)
def test_what_ffprobe_says(zoo, names):
    """FFmpeg sees a picture of a healthy camera, and none where a fault is; `-rP` shows its words.

    It follows redirects and trusts any certificate; and two cameras that play are too
    much for it."""
    found = said(zoo, names)
    for fault, (_, words) in found.items():
        print(f"{fault}: {words}")
    assert {fault for fault, (seen, _) in found.items() if seen} == PLAYS & set(names)


@pytest.mark.nightly
@pytest.mark.parametrize("codec", ["h264", "h265", "mjpeg"])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_gstreamer_plays_the_cameras(zoo, codec, protocol):
    """GStreamer, an independent client, logs in by digest and decodes; not with a wrong login."""
    need("GStreamer", shutil.which("gst-launch-1.0"), "see NIGHTLY in tests/__main__.py")
    url = zoo.camera(None, "admin", "s3cret", codec, **SMALL)

    def plays(password):
        source = [
            "rtspsrc",
            f"location={url}",
            f"protocols={protocol}",
            "latency=0",
            "user-id=admin",
            f"user-pw={password}",
        ]
        sink = ["!", "decodebin", "!", "video/x-raw", "!", "fakesink", "num-buffers=5"]
        command = ["gst-launch-1.0", *source, *sink]
        return subprocess.run(command, capture_output=True, text=True, timeout=30)

    played = plays("s3cret")
    assert played.returncode == 0, played.stderr
    assert plays("wrong").returncode != 0
