"""A service as a runbook meets a real one: reached from outside, in a dialect of its own, without a
handle to steer it. The test holds that handle."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import confkit as ck
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox
from tests.runbook.harness import Played

FOREIGN = ck.Dialect(
    hash="sha256",
    signature="raw",
    token_parameter="access_tocken",
    result_field="result",
    item_keys="snake_case",
    create_method="POST",
    list_method="POST",
    placement="json",
    remove_token_parameter="accessToken",
)
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded


@contextmanager
def deployed(**options: Any) -> Iterator[tuple[Sandbox, ck.Client]]:
    """A sandbox, and a client of it that knows nothing of its being one."""
    with Sandbox(seed=5, dialect=FOREIGN) as sandbox, outside(sandbox, **options) as client:
        yield sandbox, client


def outside(sandbox: Sandbox, **options: Any) -> ck.Client:
    """A client of a sandbox, made from addresses and keys as that of a real service."""
    client = ck.connect(
        base_url=sandbox.base_url,
        outgoing_url=sandbox.outgoing_url,
        dialect=sandbox.dialect,
        access_key=sandbox.access_key,
        secret_key=sandbox.secret_key,
        **options,
    )
    assert client.sandbox is None
    return client


def writes(sandbox: Sandbox) -> dict[str, int]:
    """How often each operation that changes something was asked for, those that never were left
    out."""
    counts = {key: sandbox.count(one.path) for key, one in ENDPOINTS.items() if one.write}
    return {key: count for key, count in counts.items() if count}


@contextmanager
def changes(sandbox: Sandbox, **expected: int) -> Iterator[None]:
    """Fails unless exactly these operations that change something are asked for inside."""
    before = writes(sandbox)
    yield
    after = writes(sandbox)
    assert {
        key: n - before.get(key, 0) for key, n in after.items() if n != before.get(key, 0)
    } == expected


def wrong(played: Played) -> dict[str, str]:
    """The checks that did not pass and were not skipped, with their verdicts."""
    return {one.check: one.verdict for one in played.checks if one.verdict in ("FAIL", "UNKNOWN")}
