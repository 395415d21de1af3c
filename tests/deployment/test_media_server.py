"""A media server's port: whether it accepts connections from here, and why not."""

import socket

import pytest

from confkit.deployment import mcu_answers
from tests.deployment.services import deaf
from tests.ports import HERE

NO_NAME, FOREIGN = "could not resolve the host name", "is not host:port, so nothing was tried"
# A name that nobody knows and one that no name can be; another form is not guessed at.
FORMS = ("", "a b:1", "user:pw@host:9000", "host", "host:70000", "http://host:1", "[::1", "a:b:1")
ADDRESSES = {"media.invalid:9000": NO_NAME, "a..b:9000": NO_NAME, **dict.fromkeys(FORMS, FOREIGN)}


@pytest.mark.parametrize("address", ADDRESSES)
def test_why_an_address_does_not_answer_is_a_sentence_and_no_login_shows(address):
    answer = mcu_answers(address, timeout=30)
    assert ADDRESSES[address] in answer.reason
    assert "pw" not in answer.reason + repr(answer)


def test_a_connection_is_accepted_or_not(version_six):
    """A host in brackets is an IPv6 address; a port that takes no connection costs the time-out."""
    with socket.create_server((version_six, 0), family=socket.AF_INET6) as listener:
        assert mcu_answers(f"[::1]:{listener.getsockname()[1]}")
    with deaf() as port:
        assert "no response within 0.3 s" in mcu_answers(f"{HERE}:{port}", timeout=0.3).reason
    with pytest.raises(ValueError, match="pass seconds"):
        mcu_answers("127.0.0.1:9", timeout=0)
