"""Connections whose whole answer, headers included, has to be there within the read time-out.

A time-out of a socket bounds the wait for the next byte only: a service that sends one byte a
second would hold a caller for hours.
"""

import io
import socket
import time
from contextlib import suppress
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_Response = HTTPConnection.response_class  # http.client's own


class _Reader(io.RawIOBase):
    """Reads a socket until a moment; afterwards every read is a time-out."""

    def __init__(self, raw: io.RawIOBase, sock: Any) -> None:
        self._raw, self._sock = raw, sock
        seconds: float | None = sock.gettimeout()
        self._end = None if seconds is None else time.monotonic() + seconds
        self._over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._over:
            return None
        if self._end is not None:
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)  # urllib3 sets it anew for each request
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()

    def ends(self, buffered: io.BufferedReader) -> bool:
        """Whether more has been read than was asked for; nothing more is read."""
        self._over = True
        if buffered.closed:
            return False
        pending = getattr(self._sock, "pending", int)  # of TLS: unpacked, seen by nobody else
        return bool(buffered.peek(1)) or pending() > 0


class _TimedResponse(_Response):  # type: ignore[misc,valid-type]  # a base known at run time
    fp: Any

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._sock, self._reader = sock, _Reader(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._reader)

    def _close_conn(self) -> None:
        """Lets go of an answer that was read; a connection on which more has come than that is not
        used again: what is nobody's would be taken for the next answer."""
        if self._reader.ends(self.fp):
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        super()._close_conn()

    def _read_status(self) -> tuple[str, int, str]:
        # Of the answers before the answer http.client passes over 100 alone: 102 or 103 would be
        # taken for the answer, and the answer for that to the connection's next request.
        version, status, reason = super()._read_status()
        return version, 100 if 101 < status < 200 else status, reason


class _Connection(HTTPConnection):
    response_class = _TimedResponse
    debuglevel = 0  # switched on in http.client, for all, it would print whole requests


class _SecureConnection(HTTPSConnection):
    response_class = _TimedResponse
    debuglevel = 0


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class DeadlineAdapter(HTTPAdapter):
    """An adapter of requests on which the read time-out bounds the whole answer."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Makes the pools, with connections that keep the deadline."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """The same through a proxy."""
        manager = super().proxy_manager_for(proxy, **kwargs)
        if hasattr(manager, "pool_classes_by_scheme") and not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager
