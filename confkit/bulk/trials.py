"""Many cameras tried at once, and never two of one host."""

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from threading import Event

from ..cameras import preflight_of
from ..records import Device
from ..rtsp.address import parse_address
from ..rtsp.report import Report


def tried(
    devices: Sequence[Device], *, threads: int, timeout: float
) -> Generator[tuple[int, Report], None, None]:
    """The position of each device and its preflight, as soon as that is there.

    At most `threads` of them at a time, and one of a host, which may be a recorder that locks out
    who comes too often; `timeout` seconds for each. Closed early, it ends those under way.
    """
    hosts: dict[str, deque[int]] = {}
    for position, device in enumerate(devices):
        host = parse_address(device.user_address or "").host.lower()
        hosts.setdefault(host, deque()).append(position)
    idle = deque(hosts.values())
    busy: dict[Future[Report], deque[int]] = {}
    cancelled = Event()
    options = {"timeout": timeout, "cancelled": cancelled}
    with ThreadPoolExecutor(threads) as pool, ExitStack() as leaving:
        leaving.callback(cancelled.set)
        while idle or busy:
            while idle and len(busy) < threads:
                queue = idle.popleft()
                busy[pool.submit(preflight_of, devices[queue[0]], **options)] = queue
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                queue = busy.pop(future)
                position = queue.popleft()
                if queue:
                    idle.append(queue)
                yield position, future.result()
