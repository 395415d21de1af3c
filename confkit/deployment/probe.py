"""`probe_dialect`: how a service fills what the interface leaves open.

A question is sent in one way after another, with the token and without: the way is right in which
the answers differ. Nothing less shows that the token was read, as a service may look at the
parameters, or for the room, first.
"""

from __future__ import annotations

import copy
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dialect import CHOICES, Dialect
from ..errors import AuthenticationFailed, ConfigError, ConfkitError, TransportError
from ..operations import A1, A3, A5, B1, B2, B3, Operation
from ..wire import token_parameter

if TYPE_CHECKING:
    from ..calls import Call
    from ..client import Client
    from ..secret import Secret

    Answer = tuple[Call, dict[str, Any] | ConfkitError]

REFUSED = (401, 602)  # authentication failed, access_token incorrect (section 5)
NOT_SUPPORTED = 408  # specified for A: HTTP request not supported; of B that is assumed
# Codes of faults, which may pass and come whether the token was read or not.
FAULTS = (302, 303, 304, 310, 409, 427, 503, 504, 700, 805, 806)
_UNSERVED = (404, 405, 501)  # HTTP statuses of a path or method that there is not
_SPELLINGS = ("access_token", "access_tocken", "token")  # in A, seen in deployments
_METHODS = ("GET", "POST")
_ROOM = {"room_id": "{room}"}
_NOBODY = {"userId": "{user}", "userAddress": "rtsp://192.0.2.1:554/nobody"}


class Question(NamedTuple):
    """An operation that shows a `setting` of the dialect, the `values` that are known of it, and
    the parameters that are sent beside the token."""

    operation: Operation
    setting: str
    values: tuple[str, ...]
    parameters: Mapping[str, str]


QUESTIONS = {
    "A3": Question(A3, "token_parameter", _SPELLINGS, _ROOM),
    "A5": Question(A5, "mcu_token_parameter", _SPELLINGS, _ROOM),
    "B3": Question(B3, "list_method", _METHODS, {"roomId": "{room}"}),
    "B2": Question(
        B2, "remove_token_parameter", ("access_token", "accessToken"),
        {"roomId": "{room}", **_NOBODY},
    ),
    # Without room, user and address there is nothing to seat or dial, however wrong a service is.
    "B1": Question(B1, "create_method", _METHODS, {}),
}  # fmt: skip


def probe_dialect(
    client: Client, room_id: str | None = None, *, max_failed_logins: int = 8
) -> Dialect:
    """Find out the dialect of a client's service by asking it.

    The client's own dialect is the first guess; what could not be found out stays as it is there,
    and a UserWarning names it with the reason. About 30 requests are sent, each once; the client's
    `calls` show them. It logs in also where the client holds a token, and at most
    `max_failed_logins` logins fail (a service may lock an account); in the right dialect none does.

    Nothing is created or changed: the rooms and users that are asked for do not exist, and B1 is
    sent a token alone. `room_id` is a room to ask for instead, for a service that looks for the
    room before the token; A5 may give it a media server. A client that is read only sends no B1
    and B2.

    AuthenticationFailed: no login was accepted. Another ConfkitError: the service cannot be
    reached, or answers a login with neither yes nor no. Sections 4, 5 and 7 of the interface.
    """
    dialect, unknown = investigate(client, room_id, max_failed_logins=max_failed_logins)
    if unknown:
        warnings.warn(f"not found out: {'; '.join(unknown)}", stacklevel=2)
    return dialect


def investigate(
    client: Client, room_id: str | None = None, *, max_failed_logins: int = 8
) -> tuple[Dialect, list[str]]:
    """Return the dialect, as `probe_dialect` does, and what was not found out, with the reason."""
    inquiry = Inquiry(client, max_failed_logins)
    error = inquiry.log_in()
    if error is not None and getattr(error, "ret", None) in REFUSED:
        advice = "Compare access_key and secret_key with those of the provider"
        advice += ", or allow more failed logins: max_failed_logins=8" * bool(inquiry.untried)
        refusal = AuthenticationFailed(f"no login (A1) was accepted: {inquiry.refusals()}", advice)
        refusal.ret, refusal.interface, refusal.endpoint = 401, "A", "A1"
        raise refusal
    if error is not None:
        raise error
    unknown = []
    for key, question in QUESTIONS.items():
        problem = "this client is read only"
        if not (question.operation.write and client.read_only):
            finding = inquiry.find(key, room_id or str(uuid.uuid4()))
            inquiry.dialect, problem = finding.dialect, finding.problem
        if problem:
            unknown.append(f"{question.setting} ({problem})")
    return inquiry.dialect, unknown


class Finding(NamedTuple):
    """What the answers to a question show: the dialect as far as it is known, the `problem` where
    it is not, and the answer that shows it, or the first."""

    key: str
    dialect: Dialect
    problem: str
    call: Call
    result: dict[str, Any] | ConfkitError

    @property
    def refused(self) -> bool:
        """Whether the token, or the operation itself, was refused."""
        return refuses_token(self.key, self.call.ret) or self.call.ret == NOT_SUPPORTED


class Inquiry:
    """Asks the service of a client, by a copy of it and for `seconds` at most, each request once.

    `dialect` is the right one as far as it is known, `token` that of the last login. The dialects
    whose signature was `refused`, and those that are `untried`.
    """

    def __init__(self, client: Client, max_failed_logins: int, seconds: float = inf) -> None:
        if type(max_failed_logins) is not int or max_failed_logins < 1:
            raise ConfigError(
                f"max_failed_logins is {max_failed_logins!r}", "Give a whole number, 1 or more."
            )
        self.client, self.dialect, self.timeout = copy.copy(client), client.dialect, client.timeout
        self.token: Secret | None = None
        # The client's own signature first, then what was seen in deployments.
        pairs = product(CHOICES["hash"], CHOICES["signature"])
        others = [replace(self.dialect, hash=name, signature=form) for name, form in pairs]
        self.untried, self.refused = list(dict.fromkeys([self.dialect, *others])), list[Dialect]()
        self._bound, self._end = max_failed_logins, time.monotonic() + seconds
        self._placement_known = False

    @property
    def time_left(self) -> float:
        """Seconds that are left for all that follows."""
        return self._end - time.monotonic()

    def ask(
        self,
        operation: Operation,
        parameters: Mapping[str, Any],
        token: Secret | None = None,
        dialect: Dialect | None = None,
    ) -> Answer:
        """Send a request once, within the time that is left; return its record and its result."""
        half = max(self.time_left / 2, 0.01)  # to connect, and to read
        self.client.timeout = min(self.timeout[0], half), min(self.timeout[1], half)
        return self.client.ask_once(operation, parameters, token, dialect or self.dialect)

    def log_in(self) -> ConfkitError | None:
        """Try one signature after another until one is not refused; return the error of the last
        login, or None and keep its token and its dialect."""
        access_key, secret_key = self.client.access_key, self.client.secret_key
        while True:
            dialect = self.untried.pop(0)
            digest = dialect.digest(access_key, secret_key)
            parameters = {"access_key": access_key, "digest": digest}
            call, result = self.ask(A1, parameters, dialect=dialect)
            if isinstance(result, dict):
                token = dialect.token_of(result, secret_key)
                if isinstance(token, ConfkitError):
                    return token
                self.token, self.dialect = token, dialect
                return None
            if call.ret not in REFUSED:
                return result  # which says nothing of the signature
            self.refused.append(dialect)
            if not self.untried or len(self.refused) >= self._bound:
                return result

    def refusals(self) -> str:
        """Return which signatures were refused, and which were not tried."""
        refused, untried = (
            ", ".join(f"{dialect.hash} {dialect.signature}" for dialect in dialects)
            for dialects in (self.refused, self.untried)
        )
        bound = f"not tried (max_failed_logins={self._bound}): {untried}"
        return f"refused: {refused}; {bound if untried else 'so most likely a key is wrong'}"

    def find(self, key: str, room_id: str) -> Finding:
        """Find the value of a setting with which an operation reads the token."""
        operation, setting = QUESTIONS[key][:2]
        ids = {"room": room_id, "user": str(uuid.uuid4())}
        parameters = {
            name: value.format(**ids) for name, value in QUESTIONS[key].parameters.items()
        }
        answers: list[Answer] = []
        served: dict[str, Answer] = {}
        unserved: set[str] = set()
        for value, dialect in self._ways(QUESTIONS[key]):
            if value in unserved:
                continue
            call, result = answer = self.ask(operation, parameters, self.token, dialect)
            answers.append(answer)
            if isinstance(result, TransportError):
                break  # so would the other ways
            if call.ret == NOT_SUPPORTED or (call.ret is None and call.status in _UNSERVED):
                unserved.add(value)
            elif call.ret is not None:
                served.setdefault(value, answer)
                if self._was_read(operation, parameters, dialect, call):
                    self._placement_known |= value == "POST"
                    return Finding(key, _plain(dialect), "", call, result)
        call, result = next(iter(served.values()), answers[0])
        summary = result.summary if isinstance(result, ConfkitError) else "success"
        alike = call.ret not in (None, *FAULTS)
        problem = f"{key}: {summary}{', with the token and without' if alike else ''}"
        if refuses_token(key, call.ret):
            problem = f"{key} refused the token in every known way: {call.ret}"
        dialect = self.dialect
        if setting.endswith("method") and served and unserved:  # this method alone is served
            [method] = served
            dialect = replace(dialect, **{setting: method})
            problem = f"placement: {problem}" if method == "POST" else ""
        return Finding(key, dialect, problem, call, result)

    def _ways(self, question: Question) -> Iterator[tuple[str, Dialect]]:
        """Yield the values to try, the known dialect's own first, each with its dialect; POST with
        each placement, unless that is known."""
        known, setting = self.dialect, question.setting
        own = str(getattr(known, setting) or token_parameter(question.operation, known))
        usual = [known.token_parameter] if question.operation is A5 else []
        for value in dict.fromkeys([own, *usual, *question.values]):
            placements = [known.placement]
            if value == "POST" and not self._placement_known:
                placements += CHOICES["placement"]
            for placement in dict.fromkeys(placements):
                yield value, replace(known, placement=placement, **{setting: value})

    def _was_read(
        self, operation: Operation, parameters: Mapping[str, str], dialect: Dialect, call: Call
    ) -> bool:
        """Return whether the token was read: the answer without one is another."""
        if refuses_token(operation.key, call.ret) or call.ret in FAULTS:
            return False
        if operation is B3 and call.ret == 0 and call.method == "GET":
            return True  # it lists by GET, whatever it makes of the token
        without, _ = self.ask(operation, parameters, None, dialect)
        same = (without.status, without.ret) == (call.status, call.ret)
        return not same and without.ret not in (None, *FAULTS)


def refuses_token(key: str, ret: object) -> bool:
    """Return whether a result code refuses the token: in B, 401 means wrong parameters, which B1
    and B2 may well answer to those of a question."""
    return ret == 602 or (ret == 401 and key not in ("B1", "B2"))


def _plain(dialect: Dialect) -> Dialect:
    """Return the dialect without a token's name of A5 that is that of all A."""
    same = dialect.mcu_token_parameter == dialect.token_parameter
    return replace(dialect, mcu_token_parameter=None) if same else dialect
