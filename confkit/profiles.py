"""Named services in `profiles.toml`, in the user's configuration directory, for its owner alone."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import ConfigError
from .secret import guard
from .text import write_whole

SETTINGS: dict[str, type | tuple[type, ...]] = {
    "base_url": str,
    "outgoing_url": str,
    "access_key": str,
    "secret_key": str,
    "timeout": (int, float, list),
    "verify": (bool, str),
    "max_rate": (int, float),
    "read_only": bool,
    "dialect": dict,
}
EMBEDDED = "sandbox"  # the profile that every installation has


def path() -> Path:
    """Return the file that holds the profiles."""
    import platformdirs

    return Path(platformdirs.user_config_dir("confkit", appauthor=False)) / "profiles.toml"


def names() -> list[str]:
    """Return the names of all profiles, the embedded sandbox's first."""
    return [EMBEDDED, *sorted(_read())]


def load(name: str) -> dict[str, Any]:
    """Return the settings of a profile; ConfigError when there is none of this name."""
    stored = _read()
    if name not in stored:
        raise ConfigError(
            f"there is no profile {name!r} in {path()}",
            f"There are {', '.join(names())}. "
            f"`confkit profile add {name if name.isprintable() else 'NAME'}` makes it.",
        )
    settings = stored[name]
    for key, value in settings.items():
        if key not in SETTINGS:
            raise ConfigError(
                f"profile {name!r} has an unknown setting {key!r}",
                f"There are {', '.join(SETTINGS)}. Correct it in {path()}.",
            )
        if not isinstance(value, SETTINGS[key]):
            raise ConfigError(f"profile {name!r}: {key} is of the wrong type", f"Correct {path()}.")
    return settings


def save(name: str, settings: dict[str, Any]) -> Path:
    """Save a profile and return the file; only its owner may read it (mode 0600)."""
    check_name(name)
    with _changing() as stored:
        stored[name] = settings
    return path()


def check_name(name: str) -> None:
    """Raise ConfigError for a name that no profile may have."""
    if name == EMBEDDED:
        raise ConfigError('"sandbox" is the embedded service, which is built in')
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise ConfigError(f"profile name {name!r}: use letters, digits, '-', '_' and '.'")


def _read() -> dict[str, dict[str, Any]]:
    import tomllib

    file = path()
    try:
        stored: Any = guard(tomllib.loads(file.read_text("utf-8")))  # its keys show in no traceback
        mode = file.stat().st_mode & 0o077
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error)
        mode = None
    if mode is None:  # outside the except block: the broken text, with its secrets, hangs on it
        raise ConfigError(f"{file} is not TOML ({where})", "Correct it.")
    if mode and os.name == "posix":
        warnings.warn(f"{file} can be read by others; run: chmod 600 {file}", stacklevel=4)
    if not all(isinstance(settings, dict) for settings in stored.values()):
        raise ConfigError(f"{file}: every profile is a table, such as [prod]")
    return dict(stored)


@contextmanager
def _changing() -> Iterator[dict[str, dict[str, Any]]]:
    """Give the profiles to change, then write them; other processes wait, so that no change is
    lost."""
    import tomli_w

    file, handle, reason = path(), None, None
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(file.with_name(".profiles-lock"), os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(ImportError, OSError):  # Windows, and file systems that know no locks
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        stored = _read()
        yield stored
        write_whole(file, tomli_w.dumps(stored).encode(), private=True)
    except OSError as error:
        reason = error.strerror or "it is no file"
    finally:
        if handle is not None:
            os.close(handle)
    if reason:  # outside the except block: what was to be written hangs on it
        raise ConfigError(
            f"{file} cannot be written ({reason})",
            "Free space, or set HOME or XDG_CONFIG_HOME to a folder of yours.",
        )
