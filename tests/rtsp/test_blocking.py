import asyncio
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

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


def test_it_works_where_a_loop_runs_already():
    """In a notebook the thread has a running loop; blocking in it works all the same."""

    async def inner():
        return await asyncio.sleep(0, "done")

    async def outer():
        return blocking(inner)

    assert asyncio.run(outer()) == "done"


def test_callers_at_once_share_one_thread_and_leave_none():
    """Eight callers wait for one loop in one thread, which ends with the last of them."""
    meeting = asyncio.Event()
    inside = []

    def threads():
        return [one for one in threading.enumerate() if one.name == "confkit rtsp"]

    async def meet():
        inside.append(threading.current_thread())
        if len(inside) == 8:
            meeting.set()
        await asyncio.wait_for(meeting.wait(), 20)
        return threads()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: blocking(meet), range(8)))
    assert set(inside) == {found[0][0]}
    assert found == [found[0]] * 8
    assert len(found[0]) == 1
    assert threads() == []


def test_a_coroutine_alone_may_wait_for_another():
    """A loop of one's own may block in another call; in the shared one it would wait for itself."""

    async def outer():
        return blocking(lambda: asyncio.sleep(0, "done"))

    assert blocking(outer, alone=True) == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_has_a_loop_of_its_own():
    """A process that is forked while somebody waits does not wait for the parent's thread."""
    code = """
import asyncio, os, threading
from confkit.rtsp.blocking import blocking
begun, over = threading.Event(), threading.Event()
async def wait():
    begun.set()
    await asyncio.to_thread(over.wait)
threading.Thread(target=blocking, args=(wait,)).start()
begun.wait()
child = os.fork()
if not child:
    os._exit(blocking(lambda: asyncio.sleep(0, 7)))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
"""
    run = [sys.executable, "-W", "ignore", "-c", code]
    assert subprocess.run(run, capture_output=True, text=True, timeout=60).stdout == "7\n"


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
