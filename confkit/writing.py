"""Files that people name: whole, or as they were before."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write a file whole; until it is, one that was there stays as it is.

    A new file has the usual rights, one that was there keeps its own; a `private` one is for its
    owner alone (mode 0600). What is no plain file, such as /dev/stdout, is written to as it is.
    OSError: it cannot be written, and nothing of it is left behind.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    target = target.resolve()  # what a link leads to, not the link, is replaced
    draft = target.with_name(f".draft-{secrets.token_hex(8)}")
    try:
        # Whoever makes a file in another way learns its usual rights only by changing them.
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if not private and target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
