"""Many cameras tried at once, and never two of one host."""

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack
from threading import Event

from ..diagnosis.device_address import preflight_of
from ..records import Device
from ..rtsp.address import parse_address
from ..rtsp.report import Report

_LOOK = 0.2  # seconds until `cancelled` is seen


def tried(
    devices: Sequence[Device], *, threads: int, timeout: float, cancelled: Event | None = None
) -> Generator[tuple[int, Report], None, None]:
    """The position of each device and its preflight, as soon as that is there.

    At most `threads` of them at a time, and one of a host, which may be a recorder that locks out
    who comes too often; `timeout` seconds for each. Closed early, it ends those under way; and once
    `cancelled` is set, with CancelledError.
    """
    hosts: dict[str, deque[int]] = {}
    for position, device in enumerate(devices):
        host = parse_address(device.user_address or "").host.lower()
        hosts.setdefault(host, deque()).append(position)
    idle = deque(hosts.values())
    busy: dict[Future[Report], deque[int]] = {}
    leave = Event()  # the caller's own may serve other calls, and is not set here
    options = {"timeout": timeout, "cancelled": leave}
    with ThreadPoolExecutor(threads) as pool, ExitStack() as leaving:
        leaving.callback(leave.set)
        while idle or busy:
            if cancelled is not None and cancelled.is_set():
                raise CancelledError
            while idle and len(busy) < threads:
                queue = idle.popleft()
                busy[pool.submit(preflight_of, devices[queue[0]], **options)] = queue
            for future in wait(busy, _LOOK, return_when=FIRST_COMPLETED).done:
                queue = busy.pop(future)
                position = queue.popleft()
                if queue:
                    idle.append(queue)
                yield position, future.result()
