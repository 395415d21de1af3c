"""Requests that no client sends, as bytes on a socket: each gets one answer with a result code."""

import json
import re
import socket
from typing import NamedTuple
from urllib.parse import urlsplit

from hypothesis import strategies as st

from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox

# A request that any server takes, whatever comes behind it.
WHOLE = re.compile(
    rb"GET /[a-z_/A-Z]+(\?[!-~]*)? HTTP/1\.1\r\nHost: x\r\nConnection: close\r\n\r\n"
)
SECONDS = 20  # after so long without a byte no answer will come


class Answered(NamedTuple):
    """What came on a connection: the answers' statuses and bodies, in order, and what is left."""

    answers: list[tuple[int, bytes]]
    rest: bytes


_METHODS = st.sampled_from([b"GET"] * 6 + [
    b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE", b"CONNECT", b"FOO", b"get",
    b"G\0T", b"",
    b"PRI", b"GET\t", "GÄT".encode(), b"M-SEARCH",
])  # fmt: skip
_PATHS = st.sampled_from([endpoint.path.encode() for endpoint in ENDPOINTS.values()] * 2 + [
    b"/", b"*", b"", b"//", b"/rtc/room/get/", b"/rtc/room/%67et", b"/%", b"/%zz", b"/%ff%00",
    b"/\xff",
    b"/a\0b", b"/\xc3\xa9", b"http://x/rtc/room/get", b"http://[::1", b"/../rtc/room/get",
    b"/" + b"a" * 9000,
    b"x:443", b"/rtc/room/get#x", b"/rtc/room/get;a=b", b"/ /",
])  # fmt: skip
_QUERY = st.lists(
    st.sampled_from([
        b"access_token=", b"access_token=%TOKEN", b"accessToken=%TOKEN", b"room_id=", b"room_id=1",
        b"room_id=%00", b"room_id=%ff", b"room_id=%ED%A0%80", b"room_id=\xc3\xa9", b"room_id[]=1",
        b"&&", b";",
        b"=", b"==", b"%", b"%zz=1", b"topic=t", b"topic=" + b"%F0%9F%98%80" * 40, b"owner_id=o",
        b"room_mode=1", b"room_mode=%D9%A3", b"attendee_max=1e3", b"attendee_max=" + b"9" * 5000,
        b"callback=x", b"callback=%0d%0aX:y", b"callback=a b", b"callback=", b"options={}",
        b"options=[",
        b"options=" + b"%5b" * 3000, b'options={"a":NaN}',
        b"options=" + b'{"a":' * 400 + b"1" + b"}" * 400,
        b"userAddress=rtsp://%00@", b"userAddress=rtsp://h:1:2/", b"roomId=", b"roomId=1",
        b"userId=u",
        b"userName=n", b"user_id=u", b"digest=%ff", b"access_key=demo_access", b"\xff\xfe",
        b"a" * 9000,
    ]) | st.binary(max_size=8),
    max_size=8,
).map(b"&".join)  # fmt: skip
_HEADERS = st.lists(
    st.sampled_from([
        b"Host: x", b"Host: x", b"Host: x\r\nHost: y", b"Content-Length: 3", b"Content-Length: -1",
        b"Content-Length: 3\r\nContent-Length: 4", b"Content-Length: 99999999999999999999",
        b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip",
        b"Content-Type: application/json",
        b"Content-Type: application/x-www-form-urlencoded; charset=x", b"Expect: 100-continue",
        b"Upgrade: websocket\r\nConnection: Upgrade", b"Upgrade: h2c\r\nConnection: Upgrade",
        b"X", b": x", b" folded: x", b"X : y", b"X: \0", b"X\xff: \xfe", b"X: " + b"y" * 70000,
        b"Y: " + b"y" * 20000, b"Accept-Encoding: *;q=x", b"Range: bytes=0-",
        b"Connection: keep-alive",
        b"Cookie: a=b; c", b"Content-Encoding: gzip",
    ]),
    max_size=5,
)  # fmt: skip
_BODIES = st.sampled_from([
    b"", b"", b"abc", b"3\r\nabc\r\n0\r\n\r\n", b"zz\r\n", b"{}", b'{"a":1}',
    b"ffffffffffffffffff\r\n",
    b'{"roomId":"\\ud800"}', b"[" * 3000, b"a=b&a=c&%ff", b"x" * 300_000, b"GET / HTTP/1.1\r\n\r\n",
]) | st.binary(max_size=12)  # fmt: skip
REQUESTS = st.tuples(
    _METHODS, _PATHS, _QUERY,
    st.sampled_from([b"HTTP/1.1"] * 5 + [b"HTTP/1.0", b"HTTP/9.9", b"HTTP/1.1x", b"", b"RTSP/1.0"]),
    _HEADERS, st.sampled_from([b"\r\n"] * 6 + [b"\n", b"\r"]), _BODIES,
)  # fmt: skip
_VALUES = st.sampled_from([
    b"0815", b"1", b"", b"%00", b"%ff", b"%ED%A0%80", b"%F0%9F%98%80", b"a&b", b"=", b"%2525", b"rtsp://h/x",
    b"rtsp://%00@", b"t" * 150, b"1e3", b"-1", b"9" * 5000, b"%D9%A3", b"{}", b"\xc3\xa9",
])  # fmt: skip


def _nearly(key: str, values: list[bytes], more: bytes, body: bytes) -> "Parts":
    """A call as it has to be, its token right, with these values for what it takes."""
    endpoint = ENDPOINTS[key]
    names = [*endpoint.required, *endpoint.optional]
    pairs = [name.encode() + b"=" + value for name, value in zip(names, values, strict=False)]
    if endpoint.token:
        pairs.append(endpoint.token.encode() + b"=%TOKEN")
    query = b"&".join([*pairs, *[more] * bool(more)])
    return b"GET", endpoint.path.encode(), query, b"HTTP/1.1", [b"Host: x"], b"\r\n", body


NEARLY_RIGHT = st.builds(
    _nearly, st.sampled_from(list(ENDPOINTS)), st.lists(_VALUES, min_size=4, max_size=8),
    st.sampled_from([b"", b"", b"callback=x", b"room_id=2", b"a=%"]), _BODIES,
)  # fmt: skip
Parts = tuple[bytes, bytes, bytes, bytes, list[bytes], bytes, bytes]


def written(parts: Parts, token: str) -> bytes:
    """A request as it goes out; the connection ends after its answer."""
    method, path, query, version, headers, end, body = parts
    query = query.replace(b"%TOKEN", token.encode())
    first = b" ".join(part for part in (method, path + b"?" * bool(query) + query, version) if part)
    return end.join([first, *headers, b"Connection: close", b"", b""]) + body


def asked(address: str, data: bytes, ends: bool = True) -> Answered:
    """What comes for these bytes, behind which the caller `ends`, until the service does."""
    parts = urlsplit(address)
    received = bytearray()
    with socket.create_connection((parts.hostname or "", parts.port or 0), SECONDS) as line:
        line.settimeout(SECONDS)
        try:
            line.sendall(data)
            if ends:
                line.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has answered before it had all
        try:
            while piece := line.recv(65536):
                received += piece
        except ConnectionResetError:
            pass  # it did not wait for the rest of a long body
    return taken_apart(bytes(received))


def taken_apart(data: bytes) -> Answered:
    """The answers in what came; those that only tell to go on (100) are none."""
    answers = []
    while data.startswith(b"HTTP/1.1 "):
        head, end, data = data.partition(b"\r\n\r\n")
        status = int(head[9:12])
        if not end:
            break
        if status == 100:
            continue
        names = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        size = int(names[b"content-length"])
        answers.append((status, data[:size]))
        data = data[size:]
    return Answered(answers, data)


def code_in(interface: str, field: str, body: bytes) -> int:
    """The result code of an answer; a ValueError where it has none."""
    text = body.decode()
    if not text.startswith("{"):  # a script: NAME({...})
        text = text[text.index("(") + 1 : text.rindex(")")]
    members = json.loads(text)
    code = members[field if interface == "B" else "ret"]
    if not isinstance(code, int):
        raise ValueError(f"the code is {code!r}")
    return code


def any_request_has_one_answer_with_a_code(
    sandbox: Sandbox, token: str, interface: str, parts: Parts
) -> None:
    """Bytes of any kind get one answer below 500 with a result code; nothing where they are no
    whole request."""
    address = sandbox.base_url if interface == "A" else sandbox.outgoing_url
    sent = written(parts, token)
    came = asked(address, sent)
    if WHOLE.match(sent) and came.answers:
        status, body = came.answers[0]
        assert status == 200, f"a whole request was answered {status} {body!r}"
    for status, body in came.answers:
        assert status < 500, f"{status}: {body[:200]!r}"
        try:
            code_in(interface, sandbox.dialect.result_field, body)
        except (ValueError, KeyError, TypeError) as error:
            raise AssertionError(f"no code ({error}): {body[:200]!r}") from None
    assert not came.rest, f"behind the answers came {came.rest[:200]!r}"
    assert len(came.answers) <= 1, f"{len(came.answers)} answers: {came.answers}"
