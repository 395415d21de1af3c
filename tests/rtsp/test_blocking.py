import asyncio
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from confkit.rtsp.blocking import blocking

from .fakes import fake_camera, until, willing


def test_it_works_where_a_loop_runs_already():
    """In a notebook the thread has a running loop; blocking in it works all the same, also in a
    loop of one's own, where the shared one would wait for itself."""

    async def outer():
        return blocking(lambda: asyncio.sleep(0, "done"))

    assert asyncio.run(outer()) == blocking(outer, alone=True) == "done"


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
    assert found == [inside[:1]] * 8
    assert threads() == []


def run(code, *arguments):
    """A Python process with this program, whose output is read."""
    line = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True)


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
    with run(code) as process:
        assert process.communicate(timeout=60)[0] == "7\n"


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
async def test_ctrl_c_ends_a_preflight_and_says_goodbye():
    """Ctrl-C stops a preflight that waits for a picture: TEARDOWN, no thread, no socket left."""
    code = """
import sys, threading
from confkit.rtsp.preflight import preflight
try:
    preflight(sys.argv[1], timeout=300)
except KeyboardInterrupt:
    print(threading.active_count())
"""
    async with fake_camera(willing) as fake:
        with run(code, fake.url) as process:
            await until(lambda: "PLAY" in fake.methods, 20)
            process.send_signal(signal.SIGINT)
            output, _ = await asyncio.to_thread(process.communicate, timeout=60)
        await until(lambda: fake.open_connections == 0)
    assert (output, fake.methods[-1]) == ("1\n", "TEARDOWN")
