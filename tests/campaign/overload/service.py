"""A sandbox in a process of its own, which tells on request what it holds.

`python -m tests.campaign.overload.service DESCRIPTORS` prints where it answers, and then for each
line of its input how much memory it had at the most, how many descriptors it has, and whether
somebody else in the process could open files.
"""

import json
import re
import resource
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

from confkit.masking import Guarded
from confkit.rooms import create_room, get_mcu
from confkit.sandbox import Sandbox
from confkit.sandbox.store import StoredDevice

from .settings import DEVICES, DIALECT, PATIENCE

FILES = 150  # that a notebook may want to open


def main(descriptors: int) -> None:
    """Serves until the input ends."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
    with Sandbox(seed=1, dialect=DIALECT, request_timeout=PATIENCE) as sandbox:
        with sandbox.connect() as client:
            room_id = create_room(client, "Overloaded", "ops")
            for number in range(DEVICES):
                address, data = Guarded(f"rtsp://127.0.0.1:9/{number}" + "x" * 300), Guarded("")
                device = StoredDevice(room_id, f"d{number}", "Device", address, data, {})
                sandbox._do(lambda service, one=device: service.store.add_device(one))
            told = {
                "A": sandbox.base_url, "B": sandbox.outgoing_url, "camera": sandbox.camera(),
                "mcu": get_mcu(client, room_id), "room": room_id, "token": str(client.token()),
            }  # fmt: skip
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted anew
        print(json.dumps(told), flush=True)
        for _ in sys.stdin:
            print(json.dumps(held()), flush=True)


def held() -> dict[str, float]:
    """What the process holds."""
    try:
        (most,) = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    except OSError:  # of all the time that it has run
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        most //= 1024 if sys.platform == "darwin" else 1
    try:
        with ExitStack() as files:
            for _ in range(FILES):
                files.enter_context(Path(__file__).open("rb"))
        free = True
    except OSError:
        free = False
    return {
        "megabytes": int(most) / 1024,
        "descriptors": len(list(Path("/dev/fd").iterdir())),
        "free": free,
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
