"""Tests of the diagnosis of devices; a door before a camera, through which not everybody comes, and
calls that are run as an advice has them."""

import re
import shlex
import socket
import socketserver
import threading
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from urllib.parse import urlsplit

import confkit as ck
from confkit.secret import reveal
from tests.ports import HERE


class Door(socketserver.ThreadingTCPServer):
    """Stands before a camera: lets so many connections through, and closes all others at once."""

    daemon_threads, block_on_close = True, False

    def __init__(self, url, places):
        super().__init__((HERE, 0), None)
        self.places, self.inside, self.knocks = places, 0, 0
        camera = urlsplit(reveal(url))
        self.camera = camera.hostname, camera.port
        self.url = f"rtsp://{HERE}:{self.server_address[1]}{camera.path}"

    def finish_request(self, request, _):
        self.knocks += 1
        if self.inside >= self.places:
            return
        self.inside += 1
        with socket.create_connection(self.camera) as camera:
            back = threading.Thread(target=pump, args=(camera, request), daemon=True)
            back.start()
            pump(request, camera)
            back.join()
        self.inside -= 1


def pump(source, target):
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def door_before(url, places=1):
    with Door(url, places) as door:
        threading.Thread(target=door.serve_forever, args=(0.02,)).start()
        try:
            yield door
        finally:
            door.shutdown()


def pasted(advice, client, answers):
    """What comes of the calls and the command in an advice, as somebody pastes them one after the
    other and answers what they ask for."""
    names = {name: getattr(ck, name) for name in ck.__all__}
    names["ask_secret"] = lambda question="Password: ": ck.Secret(answers[question])
    results = []
    for call in re.findall(r"ck\.\w+\(client(?:[^()]|\([^()]*\))*\)", advice):
        try:
            result = eval(call, {"ck": SimpleNamespace(**names), "client": client})
            results.append(getattr(result, "verdict", type(result).__name__))
        except ck.ConfkitError as error:
            results.append(type(error).__name__)
    if command := re.search(r"confkit preflight .*", advice):
        words = shlex.split(command[0].replace("$ADDRESS", answers.get("user_address: ", "")))
        name = words[words.index("--login-name") + 1] if "--login-name" in words else None
        results.append(ck.preflight(words[2], name, name and answers["Password: "]).verdict)
    return results
