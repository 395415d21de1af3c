"""Tests of the diagnosis of devices; a door before a camera, through which not everybody comes, and
calls that are run as an advice has them."""

import ast
import re
import shlex
import socket
import socketserver
import threading
import time
from contextlib import contextmanager, suppress

import confkit as ck
from confkit.secret import reveal
from tests.ports import HERE


def until(condition, seconds=20.0):
    """Waits for a condition that comes by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


class Door:
    """Stands before a camera: lets so many connections through, and closes all others at once."""

    def __init__(self, url, places):
        self.places, self.inside = places, 0
        self.knocks = 0
        self.open = set()
        parts = reveal(url).removeprefix("rtsp://").partition("/")
        host, port = parts[0].split(":")
        door = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                door.knocks += 1
                if door.inside >= door.places:
                    return
                door.inside += 1
                with socket.create_connection((host, int(port))) as camera:
                    door.open |= {camera, self.request}
                    back = threading.Thread(target=door.pump, args=(camera, self.request))
                    back.start()
                    door.pump(self.request, camera)
                    back.join()
                    door.open -= {camera, self.request}
                door.inside -= 1

        self.server = socketserver.ThreadingTCPServer((HERE, 0), Handler)
        self.server.daemon_threads = False
        self.url = f"rtsp://{HERE}:{self.server.server_address[1]}/{parts[2]}"

    @staticmethod
    def pump(source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Cuts off all who are inside."""
        for end in list(self.open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def door_before(url, places=1):
    door = Door(url, places)
    serving = threading.Thread(target=door.server.serve_forever, args=(0.02,))
    serving.start()
    try:
        yield door
    finally:
        door.server.shutdown()
        serving.join()
        door.cut()
        door.server.server_close()


def calls_in(text):
    """The calls of confkit in a text, each as far as it is Python."""
    for match in re.finditer(r"ck\.\w+\(client", text):
        for end in re.finditer(r"\)", text[match.start() :]):
            call = text[match.start() :][: end.end()]
            try:
                ast.parse(call)
            except SyntaxError:
                continue
            yield call
            break


def pasted(advice, client, answers):
    """What comes of the calls and the command in an advice, as somebody pastes them one after the
    other and answers what they ask for."""

    class Pasted:
        def __getattr__(self, name):
            return getattr(ck, name)

        def ask_secret(self, question="Password: "):
            return ck.Secret(answers[question])

    results = []
    for call in calls_in(advice):
        try:
            result = eval(call, {"ck": Pasted(), "client": client})
            results.append(getattr(result, "verdict", type(result).__name__))
        except ck.ConfkitError as error:
            results.append(type(error).__name__)
    if command := re.search(r"confkit preflight .*", advice):
        words = shlex.split(command[0].replace("$ADDRESS", answers.get("user_address: ", "")))
        name = words[words.index("--login-name") + 1] if "--login-name" in words else None
        results.append(ck.preflight(words[2], name, name and answers["Password: "]).verdict)
    return results
