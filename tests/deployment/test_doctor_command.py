"""The command `confkit doctor`, run in this process."""

import json
import os
import subprocess
import sys

import confkit as ck
from confkit.deployment import CHECKS
from tests.commands import run
from tests.deployment.seeing import A1, A3, WELL, url
from tests.ports import quiet_port
from tests.scripted import Reply


def doctor(service=None, *arguments, **environ):
    """Runs the command against a service: gives exit status, output and errors."""
    if service is not None:
        base = getattr(service, "base_url", service)
        environ = {
            "CONFKIT_BASE_URL": base,
            "CONFKIT_OUTGOING_URL": getattr(service, "outgoing_url", base),
            "CONFKIT_ACCESS_KEY": "demo_access",
            "CONFKIT_SECRET_KEY": "demo_secret",
            **environ,
        }
    return run("doctor", *arguments, **environ)


def test_a_service_that_is_well(sandbox):
    """Exit status 0, one line per check with its verdict, and where each setting came from; --json
    prints one object, with the verdict and all checks."""
    room_id = ck.create_room(sandbox.connect(), "Weekly sync", "ops")
    status, out, err = doctor(sandbox, room_id)
    lines = [line for line in out.splitlines() if not line.startswith("     ->")]
    assert (status, lines[-1]) == (0, "PASS    over all")
    assert [line[8:].partition(":")[0] for line in lines[:-1]] == list(CHECKS)
    assert "(CONFKIT_BASE_URL)" in lines[0]
    assert err == "127.0.0.1: changes nothing, at most 2 failed logins and 60 s\n"
    status, out, _ = doctor(sandbox, "--json")
    found = json.loads(out)
    assert (status, found["verdict"]) == (0, "PASS")
    assert [check["check"] for check in found["checks"]] == list(CHECKS)


def test_the_exit_status_tells_the_verdict(script, sandbox):
    """1 where something is wrong, 2 where that cannot be known; logins stay within the bound."""
    assert doctor(url(quiet_port()))[0] == 1
    assert doctor(sandbox, "404404")[0] == 1
    status, out, _ = doctor(sandbox, CONFKIT_SECRET_KEY="some0ther")
    assert (status, sandbox.count(A1)) == (1, 1 + 2)
    assert "FAIL    authentication" in out
    status, out, _ = doctor(sandbox, "--max-failed-logins", "0")
    assert (status, sandbox.count(A1)) == (2, 3)
    assert "UNKNOWN authentication: no login was made" in out
    assert out.endswith("UNKNOWN over all\n")


def test_the_embedded_service_and_wrong_options():
    """--sandbox looks at the service of this process, whatever the environment names; without a
    service or with a wrong option it is exit status 1 and one line."""
    status, out, err = doctor(url(quiet_port()), "--sandbox")
    assert (status, out.splitlines()[-1]) == (0, "PASS    over all")
    assert err.startswith("SANDBOX: changes nothing")
    for arguments, told in (
        ([], "no service is named"),
        (["--profile", "nowhere"], "there is no profile 'nowhere'"),
        (["--sandbox", "--profile", "prod"], "--profile"),
        (["--sandbox", "--max-failed-logins", "-1"], "max_failed_logins is -1"),
        (["--sandbox", "--timeout", "0"], "timeout is 0"),
        (["--sandbox", " "], "room_id"),
    ):
        status, out, err = doctor(None, *arguments)
        assert (status, out, told in err, err.count("\n")) == (1, "", True, 1)


def test_lines_come_while_a_slow_service_is_waited_for(script):
    """What is known is printed at once, not at the end."""
    service = script({**WELL, A3: Reply({"ret": 602}, delay=3.0)})
    keys = {"CONFKIT_ACCESS_KEY": "a", "CONFKIT_SECRET_KEY": "s"}
    with subprocess.Popen(
        [sys.executable, "-m", "confkit", "doctor"],
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            **keys,
            "CONFKIT_BASE_URL": service.base_url,
            "CONFKIT_OUTGOING_URL": service.base_url,
        },
    ) as process:
        told = [process.stdout.readline() for _ in range(4)]
        assert process.poll() is None
        assert told[3].startswith("PASS    TCP to A")
        process.kill()
