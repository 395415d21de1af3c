"""What demo cameras cost: to start, and to play to a viewer each (aim: 20 under 5 % of a core)."""

import asyncio
import subprocess
import sys
from functools import partial

from confkit.rtsp.pull import pull
from confkit.sandbox import Sandbox
from tests.bench.turns import taken

COUNT, SECONDS, STARTS = 20, 10, 5

WATCHED = f"""
import os, time
from confkit.sandbox import Sandbox
with Sandbox() as sandbox:
    print(*(sandbox.camera() for _ in range({COUNT})), flush=True)
    input()
    began = os.times()
    time.sleep({SECONDS})
    ended = os.times()
    print(ended.user + ended.system - began.user - began.system, flush=True)
"""


def main() -> None:
    """Prints seconds to start a camera, and the share of a core that watched ones take."""
    print(f"cameras, 640x360 at 15 fps, median of {STARTS} starts")
    with Sandbox() as sandbox:
        sandbox.camera()  # loads PyAV
        ways = {one: partial(sandbox.camera, codec=one) for one in ("h264", "h265", "mjpeg")}
        for codec, (seconds, _) in taken(ways, STARTS).items():
            print(f"  {codec:<6} starts in   {seconds:6.2f} s")
    share = asyncio.run(_watched()) / SECONDS
    print(f"  {COUNT} with a viewer {share:9.1%} of a core      (aim: 5 %)\n")


async def _watched() -> float:
    """CPU seconds of a process with cameras, each of them pulled from this one."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WATCHED, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    urls = (await process.stdout.readline()).decode().split()
    streams = [await pull(url) for url in urls]
    process.stdin.write(b"\n")
    taken = float(await process.stdout.readline())
    assert all(stream.packets > 15 * SECONDS for stream in streams)
    for stream in streams:
        await stream.close()
    await process.wait()
    return taken
