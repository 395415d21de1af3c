"""Fuzzing: what nobody would send, sent; what nobody would do, done; and a dictionary that knows
what has to come of it."""

from collections import Counter
from functools import partial
from urllib.parse import quote

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox

from ..frame import Counts, Part, Piece
from . import described, dialogues, garbage, logins, pictures, records
from .beginning import DIALECTS, LOGIN, Cameras
from .exploring import bounded, explore, watched
from .machine import machine

NEVER = ("disagreements", "foreign exceptions")


def rtsp(piece: Piece) -> Counts:
    """Examples of all that a camera may send."""
    text, size = st.text(max_size=12), piece.size
    total: Counter[str] = Counter()
    total += explore(
        piece,
        "streams",
        size // 5,
        dialogues.any_stream_is_messages_or_malformed,
        stream=dialogues.STREAMS,
        sizes=dialogues.CUTS,
        resync=st.booleans(),
    )
    total += explore(
        piece,
        "streams after a message",
        size // 8,
        dialogues.after_a_message_nothing_stops_the_parser,
        stream=dialogues.STREAMS,
        sizes=dialogues.CUTS,
    )
    total += explore(
        piece,
        "messages",
        size // 10,
        dialogues.messages_survive_the_round_trip,
        messages=st.lists(dialogues.MESSAGES, max_size=4),
        sizes=dialogues.CUTS,
    )
    total += explore(
        piece,
        "challenges",
        size // 10,
        logins.any_challenge_is_answered_or_passed_over,
        lines=logins.CHALLENGES,
        name=text,
        password=text,
    )
    total += explore(
        piece,
        "logins",
        size // 16,
        logins.a_login_opens_its_own_guard,
        name=text,
        password=text,
        wrong=text,
        realm=text,
        algorithms=logins.GUARDS,
    )
    total += explore(
        piece,
        "descriptions",
        size // 10,
        dialogues.any_description_is_one_or_a_value_error,
        body=dialogues.DESCRIPTIONS | st.binary(max_size=60),
        base=text,
    )
    total += explore(
        piece,
        "descriptions there and back",
        size // 16,
        dialogues.descriptions_survive_the_round_trip,
        media=st.lists(dialogues.MEDIA, max_size=3),
        name=st.sampled_from(["-", "Lobby", "ü"]),
    )
    total += explore(
        piece,
        "addresses",
        size // 10,
        dialogues.any_address_is_one_or_a_value_error,
        address=dialogues.ADDRESSES,
    )
    total += explore(
        piece,
        "pictures",
        size // 5,
        pictures.the_same_picture_or_none,
        stream=pictures.STREAMS,
        limit=pictures.LIMITS,
        start=st.integers(65500, 65535),
        fates=pictures.FATES,
    )
    total += explore(
        piece,
        "datagrams",
        size // 8,
        pictures.garbage_is_counted_or_passed_over,
        codec=st.sampled_from(pictures.CODECS),
        datagrams=pictures.GARBAGE,
        sets=st.lists(st.binary(max_size=5), max_size=2),
    )
    total += explore(
        piece,
        "streams without end",
        size // 400,
        dialogues.a_stream_without_end_is_bounded,
        token=dialogues.TOKENS,
        resync=st.booleans(),
    )
    total += explore(
        piece,
        "pictures without end",
        size // 800,
        pictures.pictures_without_end_are_bounded,
        codec=st.sampled_from(pictures.CODECS),
        payload=st.sampled_from(pictures.BEGINNINGS),
        step=st.sampled_from([1, 1, 2]),
    )
    total += explore(
        piece,
        "pictures too large",
        size // 800,
        pictures.a_picture_cut_at_the_limit_is_not_whole,
        codec=st.sampled_from(pictures.CODECS[:2]),
        slices=st.integers(-2, 6),
    )
    return total


def model(piece: Piece) -> Counts:
    """Examples of some thirty steps each, compared with the dictionary."""
    done: Counter[str] = Counter()
    small = {"size": (160, 120), "fps": 2}
    with Sandbox(seed=piece.number) as sandbox:
        first, second = (sandbox.camera(**small) for _ in range(2))
        cameras = Cameras((first, second), sandbox.camera(**LOGIN, **small), f"{first}-dead")
        steps = hypothesis.seed(piece.chance().getrandbits(64))(machine(cameras, done))
        # What breaks in a short piece is told at once: to make it smaller takes minutes.
        settings = bounded(piece.size, shrink=piece.size > 50, stateful_step_count=30)
        broken = watched(
            piece, "steps", lambda: run_state_machine_as_test(steps, settings=settings)
        )
    return done + broken


def answers(piece: Piece) -> Counts:
    """Examples of answers that hold anything."""
    return explore(
        piece, "answers", piece.size, records.any_answer_is_a_record_or_an_error_of_ours,
        key=st.sampled_from([*ENDPOINTS, *["A3"] * 6, *["A6", "B3"] * 3]), body=records.BODIES,
        status=st.sampled_from([200] * 9 + [201, 302, 503]),
        whole=st.sampled_from([True] * 9 + [False]), dialect=st.sampled_from(records.DIALECTS),
    )  # fmt: skip


def requests(piece: Piece) -> Counts:
    """Examples of bytes that are nearly requests."""
    dialect = DIALECTS[piece.number % len(DIALECTS)]
    with Sandbox(seed=piece.number, dialect=dialect) as sandbox, sandbox.connect() as client:
        token = quote(client.token(), safe="")
        return explore(
            piece, "requests", piece.size,
            partial(garbage.any_request_has_one_answer_with_a_code, sandbox, token),
            interface=st.sampled_from("AB"), parts=garbage.REQUESTS | garbage.NEARLY_RIGHT,
        )  # fmt: skip


def schema(piece: Piece) -> Counts:
    """Examples of calls that the description makes."""
    dialect, body = described.DIALECTS[piece.number % len(described.DIALECTS)]
    wrong = st.sampled_from(["rtsp://127.0.0.1:1/x", "rtsp://", "sip://192.0.2.7/x", ""])
    with described.deployment(dialect, body, piece.number) as where:
        return explore(
            piece, "calls", piece.size,
            partial(described.any_call_is_answered_as_described, where),
            case=described.cases(where), wrong=wrong,
            real=st.sampled_from(described.REAL),
        )  # fmt: skip


PARTS = (
    Part("fuzz-schema",
         "Every call that our OpenAPI description makes, and many that it forbids, get JSON with a "
         "result code as described, and never 5xx.",
         "examples", schema, pieces=18, size=700, short=100, never=NEVER),
    Part("fuzz-records",
         "Whatever JSON a service answers is a record or an error of ours that quotes no secret, "
         "read quickly as read plainly, and every record fits into its frame.",
         "examples", answers, pieces=20, size=5000, short=300, never=NEVER),
    Part("fuzz-requests",
         "Bytes of any kind on the sandbox's ports get at most one answer, never 5xx, and no "
         "answer is without a result code.",
         "examples", requests, pieces=20, size=2000, short=300, never=NEVER),
    Part("fuzz-model",
         "Rooms, people and devices are what a dictionary says after any steps in any order, "
         "restarts of the service among them, with every result code.",
         "examples", model, pieces=20, size=150, short=7, never=NEVER),
    Part("fuzz-rtsp",
         "Whatever a camera sends is understood or refused in words, in bounded memory, and a "
         "picture with a packet missing never passes for a whole one.",
         "examples", rtsp, pieces=20, size=6000, short=400, never=NEVER),
)  # fmt: skip
