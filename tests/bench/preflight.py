"""How soon a preflight shows a picture beside PyAV on the same stream, and how many a
second (aims: at most 0.4 of PyAV's time where the keyframe comes at once; 200 cameras a second)."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import av

from confkit.rtsp.preflight import preflight
from tests.bench.turns import taken

ROUNDS, THREADS, CAMERAS = 9, 50, 500
LOGIN = ("admin", "s3cret")
# Sent at PLAY: one keyframe and then a picture at a time, as most cameras do; or, as our cameras do
# with a longer interval, a keyframe and all that has followed it since.
STREAMS = {
    "640x360, keyframe at PLAY": "keyframe_every=1/15",
    "1080p, keyframe at PLAY": "size=(1920, 1080), keyframe_every=1/15",
    "640x360, keyframe and backlog at PLAY": "",
}
SERVER = f"""
import sys
from confkit.sandbox.cameras.server import CameraServer
login = dict(zip(("login_name", "login_password"), {LOGIN}))
with CameraServer() as server:
    for settings in ({"".join(f"dict({settings}), " for settings in STREAMS.values())}):
        print(server.add(**login, **settings), flush=True)
    sys.stdin.read()
"""


def main() -> None:
    """Prints milliseconds to the first picture, their ratios, and cameras a second."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SERVER], **pipes) as server:
        urls = [server.stdout.readline().strip() for _ in STREAMS]
        for name, url in zip(STREAMS, urls, strict=True):
            within = url.replace("//", f"//{':'.join(LOGIN)}@")
            ways = {"preflight": partial(_checked, url), "PyAV": partial(_first_frame, within)}
            ours, theirs = (1000 * each.seconds for each in taken(ways, ROUNDS).values())
            print(f"first picture, {name}, digest login, milliseconds, median of {ROUNDS}")
            print(f"  preflight {ours:.0f}, PyAV {theirs:.0f}, {ours / theirs:.2f} of it")
        many = taken({"many": partial(_many, urls[2])}, 3)["many"].seconds
        server.stdin.close()
    print(f"cameras a second with {THREADS} threads, server included, median of 3")
    print(f"  preflight {CAMERAS / many:.0f}      (aim: 200 on 2 cores)\n")


def _checked(url: str) -> None:
    report = preflight(url, *LOGIN)
    assert report.snapshot is not None, report


def _first_frame(url: str) -> None:
    options = {"rtsp_transport": "tcp", "probesize": "32"}
    with av.open(url, options=options) as container:
        next(container.decode(video=0))


def _many(url: str) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(_checked, [url] * CAMERAS))
