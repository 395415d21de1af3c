"""The sockets on which libcurl waits, watched with as few system calls as possible."""

from __future__ import annotations

import os
import selectors
import socket
from contextlib import suppress

# libcurl's words: 1 for reading, 2 for writing, which are the selector's too, and for no longer.
REMOVE = 4


class Sockets:
    """Tells libcurl's multi handle which of its sockets are ready.

    A connection that is kept for the next request stays watched, where the selector forgets closed
    sockets by itself: it would be taken out and put back for each request, and what comes on it
    meanwhile would be taken for the next answer. Where libcurl gives the
    number of a closed one to a look-up of a host name, that is found out at the next change at the
    latest; look-ups have a timer too.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._forgets = type(self._selector).__name__ == "EpollSelector"
        self._watched: dict[int, int] = {}
        self._kept: dict[int, int] = {}  # those of which `opened` told, and which socket each is
        self._idle: set[int] = set()

    def close(self) -> None:
        """Watches nothing any more."""
        self._selector.close()

    def watch(self, what: int, fd: int, *_: object) -> None:
        """Takes in what libcurl waits for on a socket."""
        if what == REMOVE:
            if fd in self._kept:
                self._idle.add(fd)
            else:
                self._forget(fd)
            return
        self._idle.discard(fd)
        known = self._watched.get(fd)
        if known == what:
            return
        try:
            if known is not None:
                self._selector.modify(fd, what)
        except (KeyError, OSError):  # it was closed, and another has its number
            known = None
        if known is None:
            self._selector.register(fd, what)
        self._watched[fd] = what

    def opened(self, fd: int, _: object) -> int:
        """Takes in that a socket is new: what was watched under its number is closed."""
        self._forget(fd)
        if self._forgets:
            self._kept[fd] = _which(fd)
        return 0

    def ready(self, wait: float) -> list[tuple[int, int]]:
        """The sockets on which something has happened within `wait` seconds, and what."""
        found = []
        for key, events in self._selector.select(max(0.0, wait)):
            if key.fd in self._idle:  # closed by the service, or it sent what nobody asked for
                if _which(key.fd) == self._kept[key.fd]:  # else a child process has it still
                    _end(key.fd)
                self._forget(key.fd)
            else:
                found.append((key.fd, events))
        return found

    def _forget(self, fd: int) -> None:
        self._kept.pop(fd, None)
        self._idle.discard(fd)
        if self._watched.pop(fd, None) is not None:
            self._selector.unregister(fd)


def _which(fd: int) -> int:
    """Tells a socket from another that has its number later; 0 when it is closed."""
    try:
        return os.fstat(fd).st_ino
    except OSError:
        return 0


def _end(fd: int) -> None:
    """Nothing more comes on this connection: libcurl, whose it is, finds it closed."""
    with suppress(OSError), socket.socket(fileno=os.dup(fd)) as peer:
        peer.shutdown(socket.SHUT_RDWR)
        for _ in range(64):  # what has come already could still be read
            if not peer.recv(65536, socket.MSG_DONTWAIT):
                break
