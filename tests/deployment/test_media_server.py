"""A media server's port: whether it accepts connections from here, and why not."""

import socket

import pytest

from confkit.deployment import mcu_answers
from tests.deployment.services import deaf
from tests.ports import HERE

FOREIGN = (
    "host host: :9000 host:port host:0 host:70000 http://host:1 host:1/path host:1?x [::1 a:b:1"
)


def test_ipv6_addresses_are_taken_in_brackets(version_six):
    """A host in brackets is an IPv6 address."""
    with socket.create_server((version_six, 0), family=socket.AF_INET6) as listener:
        assert mcu_answers(f"[::1]:{listener.getsockname()[1]}")


def test_what_stands_in_the_way_is_told_and_nothing_raised():
    """A name that nobody knows, one that no name can be, and a port that takes no connection."""
    for host in ("media.invalid", "a..b"):
        assert "its host name is not known here" in mcu_answers(f"{host}:9000", timeout=30).reason
    with deaf() as port:
        assert "no answer within 0.3 s" in mcu_answers(f"{HERE}:{port}", timeout=0.3).reason


@pytest.mark.parametrize("address", ["", "a b:1", "user:pw@host:9000", *FOREIGN.split()])
def test_what_is_not_host_and_port_is_told_without_trying(address):
    """Another form is not guessed at: the text is shown, masked, and nothing is sent."""
    found = mcu_answers(address)
    assert "is not host:port, so nothing was tried" in found.reason
    assert "pw" not in found.reason + repr(found)


@pytest.mark.parametrize("timeout", [0, float("nan"), "2"])
def test_a_timeout_that_is_none_is_refused(timeout):
    """A wrong timeout is the caller's mistake, not the server's."""
    with pytest.raises(ValueError, match="give seconds"):
        mcu_answers("127.0.0.1:9", timeout=timeout)
