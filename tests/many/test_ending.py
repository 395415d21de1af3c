"""A sweep that is ended early: at once, and with what came."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pandas as pd
import pytest

import confkit as ck
from tests.many.building import building, room, users
from tests.scripted import Reply
from tests.servers import server

MANY = [str(number) for number in range(400)]
ENDED = """
import json, multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
import confkit as ck
from confkit.many import spread

def main(url, executor):
    told = []

    def step(done, total):
        if done >= 50 and not told:
            told.append(print("under way", flush=True))

    spread.ROOMS = 50
    client = ck.Client(url, url, "demo_access", "demo_secret", timeout=90)
    sweep = ck.sweep(client, map(str, range(400)), progress=step, executor=eval(executor))
    print(time.time(), flush=True)
    frame = sweep.frame()
    asked = frame[frame.error.isna()]
    lost = frame[frame.error.notna()]
    print(json.dumps({
        "complete": sweep.complete, "rows": len(frame), "asked": len(asked), "lost": len(lost),
        "read": int(asked.users.notna().sum()),
        "missing": int((lost.users.isna() | lost.topic.isna()).sum()),
        "errors": sorted(set(lost.error)), "failures": len(sweep.failures),
        "ret": int(lost.ret.notna().sum()),
    }), flush=True)
    os._exit(0)

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


@pytest.fixture
def slow(script):
    """A service whose rooms answer at once but for those from 100 on, which take a minute."""

    def late(answer):
        return lambda room_id: Reply(answer(room_id), delay=60) if int(room_id) > 99 else None

    def script_of(answer):
        return {one: late(answer)(one) or answer(one) for one in MANY}

    return script(
        building(
            dict.fromkeys(MANY, ()), rooms=script_of(room), people=script_of(lambda _: users("x"))
        )
    )


EXECUTORS = {
    "none": "None",
    "processes": "ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn'))",
}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_ctrl_c_gives_what_came(slow, executor, tmp_path):
    """The call returns soon, not complete and without an exception; rooms that were not asked are
    missing and say so."""
    script = tmp_path / "many.py"
    script.write_text(ENDED)
    # A terminal sends the signal to all processes, those of a pool among them.
    with (
        server(
            [sys.executable, script, slow.base_url, EXECUTORS[executor]],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as child,
        child.stdout,
    ):
        assert child.stdout.readline() == "under way\n"
        time.sleep(0.3)
        began = time.time()
        os.killpg(child.pid, signal.SIGINT)
        ended = float(child.stdout.readline())
        told = json.loads(child.stdout.readline())
        assert child.wait(timeout=30) == 0
    assert ended - began < 30  # of a minute
    assert not told["complete"]
    assert told["rows"] == 400
    assert told["asked"] == told["read"] > 30
    assert told["lost"] == told["missing"] == 400 - told["asked"] > 200
    assert told["errors"] == ["not asked: the sweep was ended before"]
    assert (told["failures"], told["ret"]) == (0, 0)


def test_a_room_that_was_half_read_keeps_its_fields(script):
    """When the end comes between its two calls the fields stand and the users are missing."""
    ended = threading.Event()
    service = script(building({"a": ["x"]}, people={"a": Reply(users("x"), delay=60)}))
    sweep = ck.sweep(
        service.client(),
        ["a"],
        cancelled=ended,
        progress=lambda done, _: ended.set() if done == 2 else None,
    )
    frame = sweep.frame()
    assert frame.topic[0] == "Topic of a"
    assert pd.isna(frame.users[0])
    assert "ended" in frame.error[0]
    assert sweep.users == {}
    assert "ended early" in repr(sweep)


def test_interrupting_a_notebook_gives_what_came(slow):
    """The kernel's own interrupt ends the cell's sweep and not the cell."""
    from jupyter_client.manager import start_new_kernel

    cell = (
        "import confkit as ck\n"
        f"client = ck.Client({slow.base_url!r}, {slow.base_url!r}, 'demo_access', 'demo_secret')\n"
        "step = lambda done, total: print(done) if done == 50 else None\n"
        "sweep = ck.sweep(client, map(str, range(400)), progress=step)\n"
        "print(sweep.complete, 0 < sweep.frame().users.notna().sum() <= 100)\n"
    )
    manager, kernel = start_new_kernel()
    told = []

    def hook(message):
        if message["msg_type"] == "stream":
            told.append(message["content"]["text"])
            if told == ["50\n"]:
                time.sleep(0.3)
                manager.interrupt_kernel()

    try:
        reply = kernel.execute_interactive(cell, timeout=60, output_hook=hook)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply["content"]
    assert told == ["50\n", "False True\n"]
