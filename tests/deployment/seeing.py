"""Services that are sick in one way, and what the doctor says of them."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import confkit as ck
from tests.ports import HERE

A1, A3, A5 = "/rtc/auth/valid", "/rtc/room/get", "/sdk/get_mcu"
B2 = "/avd/api/outgoing/destroyOutgoingUser"
B3 = "/avd/api/outgoing/getOutgoingUsers"
ROOM = {"ret": 0, "room_id": "7", "topic": "Weekly sync", "owner_id": "ops"}
EMPTY = {"ret": 0, "data": {"total": 0, "items": []}}


def opens(answer):
    """What a service answers to a call with a token, and 602 to one without."""
    return lambda query: answer if {"access_token", "accessToken"} & set(query) else {"ret": 602}


WELL = {A3: opens({"ret": 404}), B2: opens({"ret": 425}), B3: opens(EMPTY)}


class Looked(dict[str, ck.Check]):
    """The checks of a doctor by their names; `letters` are the first ones of all verdicts."""

    def __init__(self, checks: ck.Checklist) -> None:
        super().__init__({check.check: check for check in checks})
        self.letters = "".join(check.verdict[0] for check in checks)
        self.failed = [check for check in checks if check.verdict == "FAIL"]
        self.exit_status = checks.exit_status


def looked(client: ck.Client, *given: object, **options: object) -> Looked:
    """What the doctor says of a client's service."""
    return Looked(ck.doctor(client, *given, **options))


def says(check: ck.Check, verdict: str, found: str = "", advice: str = "") -> None:
    """Holds a check to its verdict, and to these pieces of what it found and advises."""
    assert check.verdict == verdict, check
    assert found in check.found
    assert advice in check.advice


@contextmanager
def deaf() -> Iterator[int]:
    """A port that takes no connection: its queue is full, and what comes is dropped."""
    with socket.socket() as listener, ExitStack() as held:
        listener.bind((HERE, 0))
        listener.listen(0)
        for _ in range(4):
            waiting = held.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def url(port: int, scheme: str = "http") -> str:
    """The address of a port of this machine."""
    return f"{scheme}://{HERE}:{port}"
