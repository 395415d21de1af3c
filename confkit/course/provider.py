"""What the interface leaves open, and so has to be asked: the one list of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class OpenQuestion(NamedTuple):
    """A `question` to the provider about something, what we take until it is answered, how `sure`
    that is (seen in deployments, or assumed), and the dialect's setting for another answer."""

    about: str
    question: str
    taken: str
    sure: str
    setting: str = ""


QUESTIONS = tuple(
    OpenQuestion(*row)
    for row in (
        ("login", "Which hash does hash_hmac use?", "SHA-1", "seen", "hash"),
        ("login", "Is base64 made of the HMAC's hex text, or of its raw bytes?",
         "of the lowercase hex text", "seen", "signature"),
        ("login", "By which rule is the digest made?",
         "as the token, over the access key", "seen"),
        ("login", "How long does a token live, and what ends it before?",
         "unknown: on 602 one logs in again, once", "assumed"),
        ("login", "After how many failed logins is an account locked, and for how long?",
         "unknown: confkit's tools try twice at most", "assumed"),
        ("login", "Is there a limit to calls in a second?", "none is known", "assumed"),
        ("addresses", "Are both interfaces served with TLS, and whose certificate is it?",
         "plain HTTP on ports 8080 and 8050", "assumed"),
        ("addresses", "How does a request choose a version?",
         "there is one version of each interface", "assumed"),
        ("requests", "What is the token called in interface A?", "access_token", "seen",
         "token_parameter"),
        ("requests", "And in A5, get_mcu?", "the same", "seen", "mcu_token_parameter"),
        ("requests", "And in B2, destroyOutgoingUser?", "access_token, as specified", "seen",
         "remove_token_parameter"),
        ("requests", "Are B1 and B3 GET or POST?", "GET", "seen", "create_method, list_method"),
        ("requests", "Where does a POST carry its parameters?", "in the query", "assumed",
         "placement"),
        ("requests", "How long may a call take?", "clients wait 5 s; confkit 5 s and 10 s", "seen"),
        ("answers", "Is the result code of interface B called ret or result?",
         "ret, as specified", "seen", "result_field"),
        ("answers", "How are the members of B3's items spelt?", "camelCase, as specified", "seen",
         "item_keys"),
        ("answers", "Which numbers come in quotes, and what stands for an absent cap?",
         "both are read; absent is an empty text", "assumed"),
        ("answers", "Which HTTP status comes with a ret other than 0?", "200", "assumed"),
        ("answers", "Where does the text of an error stand?", "msg in A, err in B", "seen"),
        ("codes", "What does 424 of B1 and B2 mean?", "no meaning is known anywhere", "assumed"),
        ("codes", "Does 416 mean a closed room, or that the media server does not have it?",
         "closed, as specified; a header says the other", "seen"),
        ("codes", "Which codes are there that the interface does not list?",
         "those of `ck.explain`", "seen"),
        ("rooms", "Which values has room_mode?", "1 media server, 3 peer-to-peer", "seen"),
        ("rooms", "Which values has room_status, and what leads from one to another?",
         "0 scheduled, 1 opening, 2 locked, 3 closed", "seen"),
        ("rooms", "What are the defaults and bounds of attendee_max, max_audio and max_video?",
         "no cap unless given", "assumed"),
        ("rooms", "May a room_extend_id be used again once its room is deleted?", "yes",
         "assumed"),
        ("rooms", "Does an empty room end by itself?", "no, it is scheduled again", "assumed"),
        ("rooms", "Does somebody who was forced offline stay away?", "no, they may join again",
         "assumed"),
        ("licence", "What takes a seat: a person, a device, a stream?", "each person and device",
         "assumed"),
        ("devices", "May one address be imported into several rooms at the same time?",
         "yes, but once only into each", "seen"),
        ("devices", "Does the service dial a camera again that went away, and for how long?",
         "yes, while it is imported", "assumed"),
        ("devices", "Which codecs and transports of a camera does it take?",
         "unknown: the preflight tells what a camera offers", "assumed"),
        ("events", "Is there any notification, or is asking again the only way?",
         "none: one asks again", "assumed"),
    )
)  # fmt: skip


def open_questions() -> pd.DataFrame:
    """What to ask the provider, one row a question: about, question, taken (what we go by until it
    is answered), sure (seen or assumed), setting (of the dialect, empty where there is none)."""
    import pandas as pd

    return pd.DataFrame(list(QUESTIONS), columns=list(OpenQuestion._fields), dtype="str")
