"""Thousands of connections at once: idle, with half a request, with a whole one."""

import json
import socket
import time
from contextlib import ExitStack

from ..frame import Counts, Piece
from .running import Attacked, attacked

_HELD = 1.0  # seconds in which all of them do nothing more
_WAIT = 20.0  # seconds in which everybody who asked has an answer


def connections(piece: Piece) -> Counts:
    """Opens them all, waits a moment, and reads what came for the whole requests."""
    with attacked(piece, piece.size) as under:
        _all_at_once(piece, under)
        return under.over()


def _all_at_once(piece: Piece, under: Attacked) -> None:
    chance = piece.chance()
    asked: list[tuple[socket.socket, str]] = []
    with ExitStack() as lines:
        for _ in range(piece.size):
            port = chance.choice(["A", "A", "A", "B", "B", "B", "camera", "mcu"])
            kind = chance.choice(["idle", "half", "whole"])
            try:
                line = socket.create_connection(("127.0.0.1", under.target.ports[port]), 20)
                lines.enter_context(line)
                request = under.target.whole(port)
                if kind == "half":
                    line.sendall(request[: chance.randrange(1, len(request))])
                elif kind == "whole":
                    line.sendall(request)
                    if port in ("A", "B"):
                        asked.append((line, port))
            except ConnectionError as error:
                if kind == "whole" and port in ("A", "B"):
                    under.count("unanswered requests", 1, f"{port}: {error}")
            under.count("connections", 1)
        under.look()
        time.sleep(_HELD)
        until = time.monotonic() + _WAIT
        for line, port in asked:
            line.settimeout(max(0.1, until - time.monotonic()))
            wrong = unanswered(line)
            if wrong:
                under.count("unanswered requests", 1, f"{port}: {wrong}")
        under.count("whole requests", len(asked))
        under.look()


def unanswered(line: socket.socket) -> str:
    """Why no sound answer came; empty when one did."""
    came = b""
    try:
        while True:
            head, end, body = came.partition(b"\r\n\r\n")
            if end and body.endswith(b"}") and f"length: {len(body)}".encode() in head.lower():
                return "" if json.loads(body)["ret"] == 0 else body.decode()[:80]
            piece = line.recv(65536)
            if not piece:
                return f"closed after {len(came)} bytes"
            came += piece
    except OSError as error:
        return f"{error} after {len(came)} bytes"
