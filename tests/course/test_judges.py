"""What is said of answers that need no sandbox: right ones are right, and each usual mistake is
named. Answers that are values stand in answers.json."""

import base64
import hmac
import json
import random
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from confkit import course
from confkit.rtsp import errors as verdicts
from confkit.sandbox import Sandbox

HERE = Path(__file__).parent
VALUES = json.loads((HERE / "answers.json").read_text("utf-8"))
CHANCE = random.Random(7)


def reader(fields=("ret", "result"), make=int, absent=None, cautious=True):
    """A function that reads answers as one finds it."""

    def read(status, body):
        try:
            answer = json.loads(body)
            code = next((answer[name] for name in fields if name in answer), absent)
            return None if code is None else make(code)
        except (ValueError, AttributeError, TypeError):
            if cautious:
                return None
            raise

    return read


def split(read, unread=None):
    """Rooms in use, empty, not read; or with the unread ones among others."""
    values = {"empty": 0, "in use": 1}
    users = [values.get(unread) if count is None else count for count in read.values()]
    known = [count for count in users if count is not None]
    in_use = sum(count > 0 for count in known)
    return in_use, len(known) - in_use, len(users) - len(known)


def slept(attempt):
    time.sleep(0.1)
    return 0.1


def pauses(*share):
    return lambda attempt: min(0.2 * 3**attempt, 60) * CHANCE.uniform(*share)


def signed(secret_key, message, name, form):
    mac = hmac.new(secret_key.encode(), message.encode(), name)
    return base64.b64encode(mac.hexdigest().encode() if form == "hex" else mac.digest()).decode()


FUNCTIONS = [  # exercise, answer, what is said of it
    ("order-of-calls", {"A1", "A3", "A6"}, "A set has no order: hand in a list."),
    ("order-of-calls", ("A1", "A3", "A6"), "right"),
    ("no-such-call", {"join"}, "not all"),
    ("no-such-call", {"join", "lock", "offline"}, "offline A7"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="ignore"), "right"),
    ("topic-cut", lambda topic: topic[:149], "Count bytes, not characters"),
    ("topic-cut", lambda topic: topic.encode()[:150].decode(errors="ignore"), "leaves 150 bytes"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="replace"), "cuts through"),
    ("topic-cut", lambda topic: topic.encode()[:146].decode(errors="replace"), "changes a topic"),
    ("topic-cut", lambda topic: topic if len(topic) < 150 else topic.encode()[:149],
     "of the type bytes; a topic is a text"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="surrogateescape"),
     "cuts through"),
    ("topic-cut", lambda topic: topic if len(topic.encode()) < 150 else topic[-9:] + "...",
     "no beginning of the topic"),
    ("topic-cut", lambda topic: topic if len(topic.encode()) < 150 else topic[:9], "too much"),
    ("quoted-cap", lambda value: None if value in (None, "") else int(value), "right"),
    ("quoted-cap", int, "For an empty text, which says"),
    ("quoted-cap", lambda value: int(value or 0), "it gives 0. Nobody could join"),
    ("quoted-cap", lambda value: value, "For a number in quotes: it gives a wrong str"),
    ("quoted-cap", lambda value: int(value) if value and int(value) else None, "zero: 0 is"),
    ("host-and-port", lambda a: (a.rpartition(":")[0].strip("[]"), int(a.rpartition(":")[2])),
     "right"),
    ("host-and-port", lambda a: a.rpartition(":")[::2], "still a text"),
    ("host-and-port", lambda a: (a.rpartition(":")[0], int(a.rpartition(":")[2])), "brackets"),
    ("host-and-port", lambda a: (int(a.rpartition(":")[2]), a.rpartition(":")[0]),
     "in this order. The port came first"),
    ("host-and-port", lambda a: a, "a pair (host, port), in this order"),
    ("host-and-port", lambda a: (a.split(":")[0], int(a.split(":")[1])), "For an IPv6 address"),
    ("errors-read", reader(), "right"),
    ("errors-read", reader(make=lambda code: code), "quoted"),
    ("errors-read", reader(fields=("ret",)), "call the field result"),
    ("errors-read", reader(absent=0), "None is right. Without a result code nothing is known"),
    ("errors-read", reader(cautious=False), "raised JSONDecodeError"),
    ("errors-read", lambda s, b: reader()(s, b) if s == 200 else None, "whatever the HTTP status"),
    ("errors-read", lambda s, b: reader()(s, b) or None, "0 is a code too"),
    ("errors-again", (" AGAIN ", "Look", "again", "no", "login", "no", "look", "no"), "right"),
    ("many-report", split, "right"),
    ("many-report", lambda read: dict(zip("abc", split(read), strict=True)), "right"),
    ("many-report", lambda read: [np.int64(number) for number in split(read)], "right"),
    ("many-report", lambda read: split(read, unread="empty"), "counted as empty"),
    ("many-report", lambda read: split(read, unread="in use"), "counted as in use"),
    ("many-report", lambda read: split(read)[:2], "Three numbers"),
    ("many-report", lambda read: split(read)[::-1], "another order"),
    ("many-pause", pauses(0.5, 1.5), "right"),
    ("many-pause", pauses(0, 2), "right"),
    ("many-pause", lambda attempt: min(2.0**attempt, 30), "no chance"),
    ("many-pause", lambda attempt: random.uniform(0.5, 1.5), "does not grow"),
    ("many-pause", lambda attempt: 2**attempt * random.uniform(0.5, 1.5), "no bound"),
    ("many-pause", lambda attempt: pauses(0.5, 1.5)(attempt) / 1e4, "next to nothing"),
    ("many-pause", lambda attempt: -random.random(), "from 0 on"),
    ("many-pause", lambda attempt: "1 s", "from 0 on"),
    ("many-pause", lambda attempt: float("nan"), "from 0 on"),
    ("many-pause", slept, "waits by itself"),
    ("signature", signed, "right"),
    ("signature", lambda key, message, name, form: signed(key, message, name, "hex"), "raw bytes"),
    ("signature", lambda *given: signed(*given).encode(), "a text"),
    ("signature", lambda *given: "x", "no known mistake explains it"),
    ("signature", "a signature", "Hand in the function itself"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [*FUNCTIONS, *((name, *row) for name, rows in VALUES.items() for row in rows)],
)
def test_an_answer_is_judged_by_what_it_is(name, answer, told):
    """A right answer is right; each usual mistake is reported in its own words, it alone, none of
    which looks like a secret to the mask."""
    finding = course.check(name, answer)
    assert finding.right == (told == "right"), finding.told
    assert told == "right" or told in finding.told
    for other in ("***", "demo_secret", "; and "):
        assert other not in finding.told


def test_the_verdicts_that_are_asked_for_are_those_of_cameras():
    """Each is one that the sandbox can play, and all that may be named are those of a preflight."""
    asked, _ = VALUES["devices-verdicts"][0]
    assert set(asked) <= {fault.verdict for fault in Sandbox.camera_faults().values()}
    rows = tomllib.loads(Path(course.__file__).with_name("lessons.toml").read_text("utf-8"))
    assert rows["devices-verdicts"]["words"] == list(verdicts.VERDICTS)
