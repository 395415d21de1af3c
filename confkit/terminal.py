"""What the commands say: the one place that writes to a terminal, so that no control character of
somebody else's text ever reaches it."""

import io
import logging
import sys

from .printable import one_line, printable


def say(what: object, *, aside: bool = False, end: str = "\n") -> None:
    """Prints it at once; `aside` to standard error, beside a result that stands alone.

    A letter that the stream's encoding does not know is a question mark."""
    stream = sys.stderr if aside else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")
    print(printable(str(what)), end=end, file=stream, flush=True)


def log_here(level: int) -> None:
    """Nothing; from now on what is logged at this level or above is a line on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(asctime)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])


class OneLine(logging.Formatter):
    """Writes each record on a line of its own; a traceback, if any, on lines below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """The record's line."""
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """All of it."""
        return printable(super().format(record))
