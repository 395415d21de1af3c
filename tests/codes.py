"""The result codes that all tests share: what section 7 says, word for word, and what is raised."""

import tomllib
from pathlib import Path

import confkit as ck

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _code(written: str) -> int | str:
    return int(written) if written.isdigit() else written


# By interface and code: the meaning that is specified, and the class of the error.
SPECIFIED = {
    (interface, int(ret)): (meaning, getattr(ck, kind))
    for interface in "AB"
    for ret, (meaning, kind) in _TABLES[interface].items()
}
# Codes of no table, or of the other interface's: what is raised for them.
OTHERS = {
    (where[0], _code(where[2:])): getattr(ck, kind) for where, kind in _TABLES["others"].items()
}
# Seen in other deployments; a word or two of each meaning.
FIELD = {int(ret): meaning for ret, meaning in _TABLES["field"].items()}
EVERY = [*SPECIFIED, ("B", 424), *((None, ret) for ret in FIELD)]
