"""A run of pytest whose few failures are run once more, alone, after all else.

A test that fails beside others and passes alone is listed as flaky, to be repaired first; the run
is green. What holds a promise is never repeated: a secret that showed once is a fault.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

TESTS_FAILED = 1  # pytest's exit status; others say that it could not run, or was interrupted
A_FEW = 3  # failures that the machine, or another test, may be the cause of; more are ours
NEVER = (
    "tests/secrets/",
    "tests/browser/test_secrets.py",
    "tests/test_secret.py",
    "tests/promises/test_1_",
    "tests/promises/test_3_",
    "tests/promises/test_5_",
    "tests/test_layers.py",
)
GROUP = re.compile(r"@(browser|/[^@]*\.py)$")  # which --dist loadgroup puts behind a test's name


class Run(NamedTuple):
    """A run that is over: its exit status, and the tests that failed, and that passed alone."""

    status: int
    failed: tuple = ()
    flaky: tuple = ()


def run(pytest, call):
    """Run this command of pytest by `call`, which returns its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        status = call([*pytest, "-o", f"cache_dir={folder}"])
        cache = Path(folder, "v", "cache", "lastfailed")
        names = json.loads(cache.read_text("utf-8")) if cache.exists() else {}
    return Run(status, tuple(sorted(GROUP.sub("", name) for name in names)))


def repeatable(failed):
    """The names to run once more: none where they are many, hold a promise, or are files that could
    not be collected; of a notebook's cells it is the whole notebook."""
    if any("::" not in name or name.startswith(NEVER) for name in failed):
        return []
    names = {re.sub(r"\.ipynb::.*", ".ipynb", name) for name in failed}
    return sorted(names) if len(names) <= A_FEW else []


def once_more(first, pytest, call):
    """The same run after its few failures were run again, alone: green where all pass now."""
    names = repeatable(first.failed) if first.status == TESTS_FAILED else []
    for name in names:
        print(f"\nonce more, alone: {name}", flush=True)
        if call([*pytest, "-p", "no:cacheprovider", name]):
            return first
    return Run(0, (), tuple(names)) if names else first
