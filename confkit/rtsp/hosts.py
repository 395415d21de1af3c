"""Faults of a camera's host and of its port: what answers there is no camera, or nothing does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from .fault import Fault
from .mischief import with_certificate
from .ports import refusing, talking, unanswering

_HTTP = (
    b"HTTP/1.1 400 Bad Request\r\nServer: lighttpd/1.4.59\r\nContent-Type: text/html\r\n"
    b"Content-Length: 50\r\nConnection: close\r\n\r\n<html><body><h1>400 Bad Request</h1></body>"
    b"</html>"
)
_NO_SSH = b"Invalid SSH identification string.\r\n"
_TELNET = b"\xff\xfd\x01\xff\xfd\x1f\xff\xfb\x01\xff\xfb\x03\r\n(none) login: "
_TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x0a"  # fatal, unexpected message
_SLOW = b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n\r\n"

HOST_FAULTS = {
    "dns_failed": Fault(
        "dns_failed",
        "Nothing but a name lookup: the host is camera.invalid, which has no address by RFC 6761.",
        address=partial(replace, host="camera.invalid"),
    ),
    "unreachable": Fault(
        "unreachable",
        "Nothing: the host is a broadcast address of this machine, to which no system connects.",
        address=partial(replace, host="127.255.255.255"),
    ),
    "refused": Fault(
        "refused", "The SYN is answered with RST: nothing listens at this port.", port=refusing
    ),
    "connect_timeout": Fault(
        "connect_timeout",
        "The SYN stays unanswered, as behind a firewall: the port's queue is full (on Linux; other "
        "systems may refuse).",
        port=unanswering,
    ),
    "not_rtsp": Fault(
        "not_rtsp",
        "Answers whatever comes with HTTP/1.1 400 Bad Request, and closes: a web server.",
        port=talking(answer=_HTTP, hangs_up=True),
    ),
    "ssh_port": Fault(
        "not_rtsp",
        "Greets with SSH-2.0-OpenSSH, and closes after the first request.",
        port=talking(b"SSH-2.0-OpenSSH_8.4\r\n", _NO_SSH, hangs_up=True),
    ),
    "telnet_port": Fault(
        "not_rtsp",
        "Greets with the options and the login prompt of a telnet server.",
        port=talking(_TELNET),
    ),
    "untrusted_certificate": Fault(
        "tls_failed",
        "A healthy camera with an rtsps address and a certificate that it has signed itself.",
        settings=with_certificate,
    ),
    "plain_port": Fault(
        "tls_failed",
        "A healthy camera without TLS whose address says rtsps: its answer to a TLS hello is RTSP.",
        address=partial(replace, scheme="rtsps"),
    ),
    "tls_port": Fault(
        "tls_failed",
        "A port for TLS whose address says rtsp: answers with a TLS alert, and closes.",
        port=talking(answer=_TLS_ALERT, hangs_up=True),
    ),
    "rtsp_silent": Fault("rtsp_silent", "Accepts connections and never answers.", port=talking()),
    "closes_at_once": Fault(
        "rtsp_silent", "Accepts connections and closes them at once.", port=talking(hangs_up=True)
    ),
    "drip": Fault(
        "rtsp_silent",
        "Answers OPTIONS rightly, at one byte a second.",
        port=talking(answer=_SLOW, drips=True),
    ),
}
