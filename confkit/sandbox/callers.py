"""Who holds a connection to a port, and who of them is let go when there are too many.

Who keeps a connection and asks nothing whole is let go for the next one who comes; who is being
answered never is.
"""

from typing import Any

from .sockets import share

GRACE = 0.5  # seconds in which nobody is let go: what he asks may have come and not been read
UNREAD_BYTES = 32 * 1024 * 1024  # of all answers that wait for their callers, on one port
MOST = 2_500  # connections to one port, where the process may have so many descriptors
_SHARE = 4  # one in so many of them


class Callers:
    """Those of one port: who has asked nothing whole, with the time since when, and who does not
    read; the longest first."""

    def __init__(self) -> None:
        self.most = share(_SHARE, MOST)
        self.open: set[Any] = set()
        self.idle: dict[Any, float] = {}
        self.unread: dict[Any, None] = {}

    def waits(self, one: Any) -> None:
        """Notes that a connection asks nothing from now on."""
        self.idle.pop(one, None)
        self.idle[one] = one.loop.time()

    def gone(self, one: Any) -> None:
        """Forgets a connection."""
        self.open.discard(one)
        self.idle.pop(one, None)
        self.unread.pop(one, None)

    def room(self, coming: int = 0) -> bool:
        """Whether one more may come besides those that are `coming`: there is room, or somebody
        was let go who has asked nothing for a while."""
        if len(self.open) + coming < self.most:
            return True
        for one, since in self.idle.items():
            if one.loop.time() - since < GRACE:
                break
            self._let_go(one)
            return True
        for one in self.unread:
            self._let_go(one)
            return True
        return False

    def relieve(self) -> None:
        """Lets go of those who do not read, until what waits for them is no longer too much."""
        sizes = {one: one.transport.get_write_buffer_size() for one in self.unread}
        over = sum(sizes.values()) - UNREAD_BYTES
        for one, size in sizes.items():
            if over <= 0:
                return
            over -= size
            self._let_go(one)

    def _let_go(self, one: Any) -> None:
        self.gone(one)
        one.transport.abort()
