"""How soon a preflight has a picture beside PyAV on the same stream, and how many a second."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import av

from confkit.rtsp.preflight import preflight
from tests.bench.figures import Figure, take_turns

THREADS, CAMERAS = 50, 500
LOGIN = ("admin", "s3cret")
# One keyframe at PLAY and then a picture at a time, as most cameras send them.
STREAMS = ("keyframe_every=1/15", "size=(1920, 1080), keyframe_every=1/15")
SERVER = f"""
import sys
from confkit.sandbox.cameras.server import CameraServer
login = dict(zip(("login_name", "login_password"), {LOGIN}))
with CameraServer() as server:
    for settings in ({"".join(f"dict({settings}), " for settings in STREAMS)}):
        print(server.add(**login, **settings), flush=True)
    sys.stdin.read()
"""


def figures() -> Iterator[Figure]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SERVER], **pipes) as server:
        urls = [server.stdout.readline().strip() for _ in STREAMS]
        for name, url in zip(("640x360", "1080p"), urls, strict=True):
            address = url.replace("//", f"//{':'.join(LOGIN)}@")
            ways = {"preflight": partial(_check, url), "PyAV": partial(_first_frame, address)}
            ours, theirs = take_turns(ways, 15).values()
            # What the camera takes is no time of our processor.
            text = f"first picture of {name}, without the camera's time / PyAV"
            yield Figure(text, ours.cpu / theirs.seconds, 0.15)
        many = take_turns({"many": partial(_many, urls[0])}, 3)["many"].seconds
        server.stdin.close()
    yield Figure("preflights a second by 50 threads, cameras included", CAMERAS / many, 150, True)


def _check(url: str) -> None:
    report = preflight(url, *LOGIN)
    assert report.snapshot is not None, report


def _first_frame(url: str) -> None:
    options = {"rtsp_transport": "tcp", "probesize": "32"}
    with av.open(url, options=options) as container:
        next(container.decode(video=0))


def _many(url: str) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(_check, [url] * CAMERAS))
