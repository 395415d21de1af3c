"""The door of a port: callers come in while there is room, the others wait before it."""

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

from .callers import Callers

_AT_ONCE = 32  # callers before those who are in have their turn
_SHUT = 0.05  # seconds until a door that nobody may enter is tried again


class Door:
    """Takes callers from a listening socket, never more than there is room for.

    A server of asyncio takes everybody, until the process has no descriptor left: not for the
    notebook around it either. The system's queue holds those who wait here.
    """

    def __init__(
        self, listener: socket.socket, callers: Callers, connection: Callable[[], asyncio.Protocol]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener, self._callers, self._connection = listener, callers, connection
        self._coming: set[asyncio.Task[Any]] = set()
        self._shut: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        self._open()

    def close(self) -> None:
        """Nobody comes in any more."""
        self._loop.remove_reader(self._listener)
        if self._shut is not None:
            self._shut.cancel()
        for task in self._coming:
            task.cancel()

    def _open(self) -> None:
        self._shut = None
        self._loop.add_reader(self._listener, self._take)

    def _take(self) -> None:
        for _ in range(_AT_ONCE):
            if not self._callers.room(len(self._coming)):
                return self._wait()
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, ConnectionError):
                return None  # nobody is there any more
            except OSError:
                return self._wait()  # the process has no descriptor left
            accepted.setblocking(False)
            task = self._loop.create_task(self._greet(accepted))
            self._coming.add(task)
            task.add_done_callback(partial(self._came, accepted))
        return None

    async def _greet(self, accepted: socket.socket) -> None:
        await self._loop.connect_accepted_socket(self._connection, accepted)

    def _came(self, accepted: socket.socket, task: asyncio.Task[None]) -> None:
        self._coming.discard(task)
        if task.cancelled() or task.exception() is not None:
            accepted.close()

    def _wait(self) -> None:
        self._loop.remove_reader(self._listener)
        self._shut = self._loop.call_later(_SHUT, self._open)
