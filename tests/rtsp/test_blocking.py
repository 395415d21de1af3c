import asyncio
import os
import signal
import subprocess
import sys

import pytest

from confkit.rtsp.blocking import blocking
from confkit.rtsp.message import Parser

from .fakes import raw_server, until, willing

PATIENT = """
import sys, threading
from confkit.rtsp.preflight import preflight
try:
    preflight(sys.argv[1], timeout=300)
except KeyboardInterrupt:
    print(threading.active_count())
"""


def test_what_a_coroutine_raises_reaches_the_caller():
    """The result and the exception of a coroutine come out as of a plain function."""

    async def fail():
        raise LookupError("nothing")

    async def succeed():
        return 7

    assert blocking(succeed) == 7
    with pytest.raises(LookupError, match="nothing"):
        blocking(fail)


def test_it_works_where_a_loop_runs_already():
    """In a notebook the thread has a running loop; blocking in it works all the same."""

    async def inner():
        return await asyncio.sleep(0, "done")

    async def outer():
        return blocking(inner)

    assert asyncio.run(outer()) == "done"


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_ends_a_preflight_and_says_goodbye():
    """Ctrl-C stops a preflight that waits for a picture: TEARDOWN, no thread, no socket left."""
    methods = []
    gone = []

    async def serve(reader, writer):
        parser = Parser()
        while data := await reader.read(65536):
            for request in parser.feed(data):
                methods.append(request.method)
                writer.write(willing(request))
        gone.append(True)

    async def run():
        async with raw_server(serve) as port:
            process = await asyncio.to_thread(
                subprocess.Popen,
                [sys.executable, "-c", PATIENT, f"rtsp://127.0.0.1:{port}/"],
                stdout=subprocess.PIPE,
                text=True,
            )
            with process:
                await until(lambda: "PLAY" in methods, 20)
                process.send_signal(signal.SIGINT)
                output, _ = await asyncio.to_thread(process.communicate, timeout=60)
                await until(lambda: bool(gone))
        return output

    assert asyncio.run(run()) == "1\n"
    assert methods[-1] == "TEARDOWN"
