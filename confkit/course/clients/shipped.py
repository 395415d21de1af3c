"""The clients that the course ships: whole ones, and skeletons of them to be completed."""

from __future__ import annotations

import re
from importlib.resources import files

from ...errors import ConfigError

LANGUAGES = {"java": "Client.java", "sh": "client.sh"}
_EXERCISE = re.compile(
    r"^(?P<mark> *(?://|#)) exercise: (?P<what>.*)\n(?:.*\n)*?(?P=mark) end\n", re.MULTILINE
)
_MARK = re.compile(r"^ *(?://|#) (?:exercise: .*|end)\n", re.MULTILINE)


def example(language: str) -> str:
    """The whole client in "java" (one file, Java 11 and later, nothing but the JDK) or "sh" (POSIX
    shell, curl, openssl, awk): every row of the contract is right. ConfigError: another language.
    """
    return _MARK.sub("", _written(language))


def skeleton(language: str) -> str:
    """The same client without three operations, which are missing in `check_client`: where each
    belongs, a comment says which. ConfigError: another language."""
    return _EXERCISE.sub(r"\g<mark> Your turn: \g<what>\n", _written(language))


def _written(language: str) -> str:
    if language not in LANGUAGES:
        raise ConfigError(
            f"there is no client in {language!r}",
            f"There are {', '.join(LANGUAGES)}. In any other "
            "language, `confkit course contract` says what it has to do.",
        )
    return (files(__package__) / "examples" / LANGUAGES[language]).read_text("utf-8")
