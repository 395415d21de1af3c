import pytest

from confkit.rtsp.rtp import Packet, Sequencer


def ordered(numbers):
    sequencer = Sequencer()
    packets = [Packet(96, False, number & 0xFFFF, 0, 1, b"x") for number in numbers]
    return [ready.sequence for packet in packets for ready in sequencer.push(packet)]


@pytest.mark.parametrize(
    ("came", "ready"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([1, 1, 2, 2, 3], [1, 2, 3]),
        ([1, 3, 2, 4], [1, 2, 3, 4]),
        ([65534, 0, 65535, 1], [65534, 65535, 0, 1]),
        ([1, *range(3, 13)], [1, *range(3, 13)]),
        ([500, *range(1, 20)], [500, *range(10, 20)]),
    ],
)
def test_packets_are_handed_on_in_their_order(came, ready):
    """Twins and stragglers are dropped, a gap is waited for a while, a new count is followed."""
    assert ordered(came) == ready
