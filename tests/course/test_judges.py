"""What is said of answers that are values, and of functions that need no sandbox: right ones are
right, and each usual mistake is named."""

import json
import random
import time
import tomllib
from pathlib import Path
from urllib.parse import quote, quote_plus

import numpy as np
import pytest

from confkit import course
from confkit.rtsp import verdicts
from confkit.sandbox import Sandbox

TOKEN = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="
LOGIN = {"login_name": "admin", "login_password": "50% & more"}
AGAIN = ["again", "look", "again", "no", "login", "no", "look", "no"]
VERDICTS = ["not_rtsp", "auth_rejected", "path_not_found", "busy", "udp_blocked", "refused"]
CHANCE = random.Random(7)


def other(words, place, word):
    """The list with another word in this place, from 1 on."""
    return [*words[: place - 1], word, *words[place:]]


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


def by_pattern(status, body):
    """Finds the code in text that is cut off, too."""
    return int(body.split(b'"ret":')[1].split(b",")[0].strip(b'"}')) if b'"ret":' in body else None


def travelling(options, encode=lambda text: quote(text, safe="")):
    return "options=" + encode(options if isinstance(options, str) else json.dumps(options))


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


VALUES = [  # exercise, answer, what is said of it
    ("order-of-calls", ["A1", "A3", "A6"], "right"),
    ("order-of-calls", "A1 A3", "Hand in a list"),
    ("order-of-calls", {"A1", "A3", "A6"}, "A set has no order: hand in a list."),
    ("order-of-calls", {"A1": 1, "A3": 1, "A6": 1}, "A dict has no order: hand in a list."),
    ("order-of-calls", ("A1", "A3", "A6"), "right"),
    ("order-of-calls", ["A3", "A6"], "Before the first call"),
    ("order-of-calls", ["A1", "A3", "A1", "A6"], "The token is kept"),
    ("order-of-calls", ["A1", "A6", "A3"], "another order"),
    ("no-token", 602, "right"),
    ("no-token", "602", "right"),
    ("no-token", 200, "HTTP status"),
    ("no-token", 404, "good token"),
    ("no-token", 407, "parameter error"),
    ("no-such-call", ["Join", "lock"], "right"),
    ("no-such-call", {"join"}, "not all"),
    ("no-such-call", {"join", "lock", "offline"}, "offline A7"),
    ("token", TOKEN, "right"),
    ("token", f"{TOKEN[:20]} {TOKEN[20:]}", "Blanks stand in it, and a token has none"),
    ("digest", "MWFj ZjMz", "Blanks stand in it, and a digest has none"),
    ("token-in-url", f"access_token={TOKEN.replace('=', '%3D')}", "right"),
    ("token-in-url", f"http://h/x?access_token={TOKEN.replace('=', '%3d')}&room_id=1", "right"),
    ("token-in-url", TOKEN.replace("=", "%3D"), "Begin with"),
    ("token-in-url", f"access_token={TOKEN}", "not encoded"),
    ("token-in-url", f"access_token={quote(quote(TOKEN))}", "twice"),
    ("token-in-url", f"accessToken={quote(TOKEN)}", "spelling of B1"),
    ("token-in-url", "access_token=abc", "not the token"),
    ("token-culprits", ["raw", "SHA256", "newline"], "right"),
    ("token-culprits", ["raw", "newline", "sha256"], "1 of 3 are right. Token 2: "),
    ("token-culprits", ["raw"], "A list of 3 words"),
    ("token-culprits", {"raw", "sha256", "newline"}, "A set has no order: hand in a list."),
    ("token-culprits", frozenset({"raw"}), "A set has no order: hand in a list."),
    ("token-culprits", {"raw": 1, "sha256": 2, "newline": 3}, "A dict has no order"),
    ("token-culprits", "raw, sha256, newline", "Hand in a list"),
    ("token-culprits", ["raw", "x", "newline"], "Token 2: this is none of"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="ignore"), "right"),
    ("topic-cut", lambda topic: topic[:149], "Count bytes, not characters"),
    ("topic-cut", lambda topic: topic.encode()[:150].decode(errors="ignore"), "leaves 150 bytes"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="replace"), "cuts through"),
    ("topic-cut", lambda topic: topic.encode()[:146].decode(errors="replace"), "changes a topic"),
    ("topic-cut", lambda topic: topic.encode()[:149], "of the type bytes; a topic is a text"),
    ("topic-cut", lambda topic: topic if len(topic) < 150 else topic.encode()[:149],
     "of the type bytes; a topic is a text"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="surrogateescape"),
     "cuts through"),
    ("topic-cut", lambda topic: topic if len(topic.encode()) < 150 else topic[-9:] + "...",
     "no beginning of the topic"),
    ("topic-cut", lambda topic: None, "is a `return` missing"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(), "raised UnicodeDecodeError: "),
    ("topic-cut", lambda topic: topic if len(topic.encode()) < 150 else topic[:9], "too much"),
    ("topic-cut", "x" * 149, "the function itself"),
    ("quoted-cap", lambda value: None if value in (None, "") else int(value), "right"),
    ("quoted-cap", int, "For an empty text, which says"),
    ("quoted-cap", lambda value: int(value or 0), "it gives 0. Nobody could join"),
    ("quoted-cap", lambda value: value, "For a number in quotes: it gives a wrong str"),
    ("quoted-cap", lambda value: int(value) if value and int(value) else None, "zero: 0 is"),
    ("five-codes", {"address": 410, "server": 417, "none": "428", "gone": 429, "closed": 416},
     "right"),
    ("five-codes", {"address": 410}, "five names"),
    ("five-codes", dict.fromkeys(["address", "server", "none", "gone", "closed"], 417),
     "address: 417 says: MCU not online"),
    ("host-and-port", lambda a: (a.rpartition(":")[0].strip("[]"), int(a.rpartition(":")[2])),
     "right"),
    ("host-and-port", lambda a: a.rpartition(":")[::2], "still a text"),
    ("host-and-port", lambda a: (a.rpartition(":")[0], int(a.rpartition(":")[2])), "brackets"),
    ("host-and-port", lambda a: {"host": "h", "port": 1}, "a pair (host, port), in this order"),
    ("host-and-port", lambda a: (int(a.rpartition(":")[2]), a.rpartition(":")[0]),
     "in this order. The port came first"),
    ("host-and-port", lambda a: a.split(":"), "still a text"),
    ("host-and-port", lambda a: a, "a pair (host, port), in this order"),
    ("host-and-port", lambda a: (a.split(":")[0], int(a.split(":")[1])), "For an IPv6 address"),
    ("errors-read", reader(), "right"),
    ("errors-read", reader(make=lambda code: code), "quoted"),
    ("errors-read", reader(fields=("ret",)), "call the field result"),
    ("errors-read", reader(absent=0), "None is right. Without a result code nothing is known"),
    ("errors-read", reader(cautious=False), "raised JSONDecodeError"),
    ("errors-read", lambda s, b: reader()(s, b) if s == 200 else None, "whatever the HTTP status"),
    ("errors-read", by_pattern, "call the field result"),
    ("errors-read", lambda s, b: reader()(s, b) or None, "0 is a code too"),
    ("errors-read", lambda s, b: 0, "404 is right"),
    ("errors-read", lambda s, b: min(reader()(s, b), 999) if reader()(s, b) is not None else None,
     "unknown"),
    ("errors-read", "my_read", "by its name"),
    ("errors-again", AGAIN, "right"),
    ("errors-again", tuple(f" {word.upper()} " for word in AGAIN), "right"),
    ("errors-again", AGAIN[:7], "one for each failure: 7 came"),
    ("errors-again", other(AGAIN, 8, "retry"), "none of the words again, look"),
    ("errors-again", other(AGAIN, 2, "again"), "Failure 2: A2 is a change, and nobody knows"),
    ("errors-again", other(AGAIN, 3, "look"), "Failure 3: nothing listened"),
    ("errors-again", other(AGAIN, 5, "no"), "Failure 5: 602 is about the token"),
    ("errors-again", other(AGAIN, 6, "login"), "Failure 6: 401 of B is about the parameters"),
    ("errors-again", other(AGAIN, 7, "again"), "Failure 7: A7 is a change"),
    ("errors-again", other(AGAIN, 8, "login"), "7 of 8 are right. Failure 8: 401 of A1"),
    ("devices-options", travelling(LOGIN), "right"),
    ("devices-options", "&" + travelling(LOGIN, quote_plus), "right"),
    ("devices-options", travelling(json.dumps(LOGIN, separators=(",", ":"), indent=1)), "right"),
    ("devices-options", travelling(str(LOGIN)), "double quotes"),
    ("devices-options", travelling(LOGIN, lambda text: quote(quote(text))), "encoded twice"),
    ("devices-options", travelling(LOGIN, str), "bare & ends the parameter half way"),
    ("devices-options", travelling(LOGIN, lambda text: text.replace("&", "%26")),
     "partly percent-encoded"),
    ("devices-options", travelling(LOGIN, lambda text: quote(text).replace("%25", "%")),
     "partly percent-encoded"),
    ("devices-options", travelling(LOGIN, lambda text: text.replace("&", "\\u0026")),
     "not percent-encoded yet"),
    ("devices-options", travelling(json.dumps(json.dumps(LOGIN))), "went through JSON twice"),
    ("devices-options", travelling({"loginName": "admin", "loginPassword": "50% & more"}),
     "snake_case"),
    ("devices-options", travelling({"login_name": "admin"}), "and no others"),
    ("devices-options", travelling({**LOGIN, "login_password": "50% & less"}), "values are others"),
    ("devices-options", travelling("admin:50% & more"), "not the JSON text"),
    ("devices-options", travelling(LOGIN).removeprefix("options="), "parameter's name"),
    ("devices-options", travelling(LOGIN).replace("options", "option"), "parameter's name"),
    ("devices-options", travelling(LOGIN).replace("options", "Options"), "spelt options"),
    ("devices-options", LOGIN, "a text"),
    ("devices-verdicts", VERDICTS, "right"),
    ("devices-verdicts", VERDICTS[:5], "A list of 6"),
    ("devices-verdicts", "refuse", "Hand in a list"),
    ("devices-verdicts", set(VERDICTS), "has no order"),
    ("devices-verdicts", dict.fromkeys(VERDICTS), "has no order"),
    ("devices-verdicts", other(VERDICTS, 1, "rtsp_silent"), "5 of 6 are right. Dialogue 1: "),
    ("devices-verdicts", other(VERDICTS, 1, "rtsp_silent"), "first word"),
    ("devices-verdicts", other(VERDICTS, 2, "auth_required"), "a login was given"),
    ("devices-verdicts", other(VERDICTS, 2, "auth_locked"), "shut the door"),
    ("devices-verdicts", other(VERDICTS, 3, "wrong_path"),
     "Dialogue 3: wrong_path is the fault; its verdict is asked for"),
    ("devices-verdicts", other(VERDICTS, 4, "nonsense"), "4: this is none of the verdicts"),
    ("devices-verdicts", other(VERDICTS, 3, "server_error"), "of 404"),
    ("devices-verdicts", other(VERDICTS, 4, "forbidden"), "nobody else"),
    ("devices-verdicts", other(VERDICTS, 5, "no_media"), "over UDP"),
    ("devices-verdicts", other(VERDICTS, 6, "connect_timeout"), "nobody listens"),
    ("many-cost", 10_002, "right"),
    ("many-cost", 5_001, "two calls"),
    ("many-cost", 10_000, "asked once: A1, and B3"),
    ("many-cost", 10_001, "One is missing"),
    ("many-cost", 15_002, "once, not for each room"),
    ("many-cost", 20_000, "storm of logins"),
    ("many-cost", 7, "Count A3 and A6"),
    ("many-cost", "10002", "right"),
    ("many-cost", "many", "whole number"),
    ("many-cost", 10_002.0, "whole number"),
    ("many-report", split, "right"),
    ("many-report", lambda read: dict(zip("abc", split(read), strict=True)), "right"),
    ("many-report", lambda read: [np.int64(number) for number in split(read)], "right"),
    ("many-report", lambda read: split(read, unread="empty"), "counted as empty"),
    ("many-report", lambda read: split(read, unread="in use"), "counted as in use"),
    ("many-report", lambda read: split(read)[:2], "Three numbers"),
    ("many-report", lambda read: split(read)[::-1], "another order"),
    ("many-report", lambda read: (sum(n > 0 for n in read.values()), 1, 0), "TypeError"),
    ("many-report", lambda read: (0, 0, 0), "[2, 1, 0] is right"),
    ("many-report", lambda read: [*split(read)][: 3 * len(read) or 1 // 0], "ZeroDivisionError"),
    ("many-report", (2, 1, 0), "by its name"),
    ("many-pause", pauses(0.5, 1.5), "right"),
    ("many-pause", pauses(0, 2), "right"),
    ("many-pause", pauses(0.9, 1.1), "right"),
    ("many-pause", lambda attempt: min(2.0**attempt, 30), "no chance"),
    ("many-pause", lambda attempt: random.uniform(0.5, 1.5), "does not grow"),
    ("many-pause", lambda attempt: 2**attempt * random.uniform(0.5, 1.5), "no bound"),
    ("many-pause", lambda attempt: pauses(0.5, 1.5)(attempt) / 1e4, "next to nothing"),
    ("many-pause", lambda attempt: -random.random(), "from 0 on"),
    ("many-pause", lambda attempt: "1 s", "from 0 on"),
    ("many-pause", lambda attempt: float("nan"), "from 0 on"),
    ("many-pause", slept, "waits by itself"),
    ("many-pause", 1.5, "by its name"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "answer", "told"), VALUES)
def test_an_answer_is_judged_by_what_it_is(name, answer, told):
    """A right answer is right; each usual mistake is reported in its own words, none of which looks
    like a secret to the mask."""
    finding = course.check(name, answer)
    assert finding.right == (told == "right"), finding.told
    assert told == "right" or told in finding.told
    assert "***" not in finding.told


def test_the_verdicts_that_are_asked_for_are_those_of_cameras():
    """Each is one that the sandbox can play, and all that may be named are those of a preflight."""
    assert set(VERDICTS) <= {fault.verdict for fault in Sandbox.camera_faults().values()}
    rows = tomllib.loads(Path(course.__file__).with_name("lessons.toml").read_text("utf-8"))
    assert rows["devices-verdicts"]["words"] == list(verdicts.VERDICTS)
