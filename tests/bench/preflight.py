"""How soon a preflight shows a picture beside other tools on the same stream, and how many a
second (aims: at most 0.4 of PyAV's time where the keyframe comes at once; 200 cameras a second)."""

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import av

from confkit.rtsp.preflight import preflight
from confkit.sandbox import Sandbox
from tests.bench.turns import taken

ROUNDS, THREADS, CAMERAS = 9, 50, 500
LOGIN = ("admin", "s3cret")
# Sent at PLAY: one keyframe and then a picture at a time, as most cameras do; or, as our cameras do
# with a longer interval, a keyframe and all that has followed it since.
STREAMS: dict[str, dict[str, Any]] = {
    "640x360, keyframe at PLAY": {"keyframe_every": 1 / 15},
    "1080p, keyframe at PLAY": {"size": (1920, 1080), "keyframe_every": 1 / 15},
    "640x360, keyframe and backlog at PLAY": {},
}

SERVER = f"""
import sys
from confkit.sandbox import Sandbox
with Sandbox() as sandbox:
    print(*(sandbox.camera(None, *{LOGIN}) for _ in range(4)), flush=True)
    sys.stdin.read()
"""


def main() -> None:
    """Prints milliseconds to the first picture, their ratios, and cameras a second."""
    with Sandbox() as sandbox:
        for name, settings in STREAMS.items():
            url = sandbox.camera(None, *LOGIN, **settings)
            print(f"first picture, {name}, digest login, median of {ROUNDS}")
            _compare(url)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        urls = server.stdout.readline().split()
        rates = [_rate(urls) for _ in range(3)]
        server.stdin.close()
    print(f"cameras a second with {THREADS} threads, server included, median of 3")
    print(f"  preflight         {median(rates):6.0f}      (aim: 200 on 2 cores)\n")


def _compare(url: str) -> None:
    within = url.replace("//", f"//{':'.join(LOGIN)}@")
    ways: dict[str, Callable[[], object]] = {
        "preflight": lambda: _checked(url),
        "PyAV probesize=32": lambda: _first_frame(within),
    }
    if shutil.which("ffprobe"):
        ways["ffprobe"] = lambda: _ffprobe(within)
    found = taken(ways, ROUNDS)
    for way, (seconds, _) in found.items():
        share = found["preflight"].seconds / seconds
        ratio = "" if way == "preflight" else f"   preflight takes {share:.2f} of it"
        print(f"  {way:<18}{1000 * seconds:6.0f} ms{ratio}")


def _checked(url: str) -> None:
    report = preflight(url, *LOGIN)
    assert report.snapshot is not None, report


def _first_frame(url: str) -> None:
    options = {"rtsp_transport": "tcp", "probesize": "32"}
    with av.open(url, options=options) as container:
        next(container.decode(video=0))


def _ffprobe(url: str) -> None:
    line = (
        "ffprobe -v error -rtsp_transport tcp -read_intervals %+#1 -show_frames -select_streams v"
    )
    quiet = subprocess.DEVNULL
    subprocess.run([*shlex.split(line), url], check=True, stdout=quiet, stderr=quiet)


def _rate(urls: list[str]) -> float:
    with ThreadPoolExecutor(THREADS) as pool:
        began = time.perf_counter()
        reports = list(pool.map(lambda n: preflight(urls[n % len(urls)], *LOGIN), range(CAMERAS)))
        seconds = time.perf_counter() - began
    assert all(report.ok for report in reports)
    return CAMERAS / seconds
