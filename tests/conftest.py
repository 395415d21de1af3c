"""What many tests need: a scripted service, a sandbox, a clean environment."""

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings

from confkit.sandbox import Sandbox, state
from tests.ports import HERE
from tests.scripted import scripted

# Every day the examples are the same; `--hypothesis-profile=nightly` looks for others.
everyday = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, derandomize=True)
settings.register_profile("everyday", everyday)
settings.register_profile("nightly", everyday, derandomize=False, max_examples=2_000)
settings.load_profile("everyday")

state.HOST = HERE  # also of the sandboxes that are made deep inside


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the marks in this hook, too
def pytest_collection_modifyitems(items):
    """Tests that share what takes long to make run in one process: those of a module with a fixture
    of its own, and all in a browser, which begin first. None runs for ever."""
    for item in items:
        if item.get_closest_marker("timeout") is None:  # in no setting: Binder has no such plugin
            item.add_marker(pytest.mark.timeout(120))
        made = getattr(item, "_fixtureinfo", None)
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.xdist_group("browser"))
        elif made and any(one[-1].scope == "module" for one in made.name2fixturedefs.values()):
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
    items.sort(key=lambda item: item.path.parent.name != "browser")


@pytest.fixture(scope="session", autouse=True)
def signals_of_a_terminal():
    """What a process ignores, its children do too: under nohup, or behind a shell's `&`, no test
    could end one by SIGHUP or Ctrl-C. A handler is not inherited."""
    for number in (signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


@pytest.fixture(autouse=True)
def the_same_signals():
    """A test that left other handlers behind would break those that come after it, anywhere."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    assert {number: signal.signal(number, handler) for number, handler in before.items()} == before


@pytest.fixture(autouse=True)
def no_thread_left():
    """A thread of ours that a test left behind would be counted, or be at work, in another."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 10
    while new := [one.name for one in {*threading.enumerate()} - before if "confkit" in one.name]:
        assert time.monotonic() < deadline, f"left behind: {new}"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path_factory):
    """No test sees the settings or profiles of the person who runs it."""
    for name in [name for name in os.environ if name.startswith("CONFKIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))


@pytest.fixture
def script():
    """Starts a scripted service: script({path: answer, ...})."""
    with ExitStack() as running:
        yield lambda answers=(): running.enter_context(scripted(dict(answers)))


@pytest.fixture
def sandbox():
    """A sandbox whose ids repeat."""
    with Sandbox(seed=1) as running:
        yield running


@pytest.fixture
def client(sandbox):
    """A client of that sandbox."""
    with sandbox.connect() as connected:
        yield connected


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A self-signed certificate for where servers listen, with its key, as files."""
    need("openssl", shutil.which("openssl"), "apt-get install openssl")
    folder = tmp_path_factory.mktemp("tls")
    files = folder / "cert.pem", folder / "key.pem"
    line = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = f"subjectAltName=DNS:localhost,IP:127.0.0.1,IP:{HERE}"
    where = ["-out", files[0], "-keyout", files[1], "-addext", names]
    subprocess.run([*shlex.split(line), *where], check=True, capture_output=True)
    return files


def need(witness, found, how):
    """Skips the test where what it needs of the machine is not there; with CI=true that fails."""
    if not found and os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{witness} is missing, and with CI=true it has to be there: {how}")
    if not found:
        pytest.skip(f"{witness} is not here: {how}")
