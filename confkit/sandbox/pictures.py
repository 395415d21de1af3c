"""What needs PyAV: it is loaded only when a picture is made."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..errors import ConfkitError
from ..rtsp.verdicts import VERDICTS

if TYPE_CHECKING:
    from ..rtsp.report import Snapshot


def need_av(what: str) -> None:
    """Check that PyAV is there; otherwise a ConfkitError says how to install it."""
    if find_spec("av") is None:
        raise ConfkitError(f"{what} need av (PyAV); run: pip install 'confkit-notebooks[lab]'")


def picture(codec: str, keyframe: bytes) -> "Snapshot":
    """The keyframe as a picture; a ConfkitError where it does not decode."""
    need_av("pictures")
    from ..rtsp.report import Snapshot

    try:
        return Snapshot.of(codec, keyframe)
    except ValueError as error:
        raise ConfkitError(f"{error} {VERDICTS['no_picture'].advice}") from None
