"""`probe_dialect`: find out what a service does where the interface is silent.

A call is sent in one form after another, with the token and without it: the right form is the one
for which the answers differ. Nothing less proves that the token was read, as a service may check
the parameters, or look for the room, first.
"""

import copy
import uuid
import warnings
from dataclasses import asdict, replace
from itertools import product
from shlex import quote
from typing import Any, NamedTuple

from ..calls import Call
from ..client import Client
from ..dialect import CHOICES, Dialect
from ..errors import AuthenticationFailed, ConfigError, ConfkitError, TransportError
from ..operations import A1, B1, OPERATIONS
from ..secret import Secret

_USUAL = Dialect()
Answer = tuple[Call, dict[str, Any] | ConfkitError]

REFUSED = (401, 602)  # authentication failed, access_token incorrect (section 5)
NOT_SUPPORTED = 408  # HTTP request not supported: specified for A, assumed for B
# Codes of temporary faults, which occur whether the token was read or not.
FAULTS = (302, 303, 304, 310, 409, 418, 419, 421, 427, 503, 504, 700, 805, 806)
_SPELLINGS = ("access_token", "access_tocken", "token")  # in A, seen in deployments
# The setting of the dialect that each operation reveals, and its known values.
QUESTIONS: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "A3": ("token_parameter", _SPELLINGS),
    "A5": ("mcu_token_parameter", (None, *_SPELLINGS)),
    "B3": ("list_method", CHOICES["list_method"]),
    "B2": ("remove_token_parameter", ("access_token", "accessToken")),
    "B1": ("create_method", CHOICES["create_method"]),
}


def probe_dialect(
    client: Client, room_id: str | None = None, *, max_failed_logins: int = 8
) -> Dialect:
    """Determine the dialect of a client's service by experiment.

    The client's own dialect is the first guess; settings that cannot be determined are kept, and a
    UserWarning names them with the reason. About 30 requests are sent, each once; the client's
    `calls` show them. It authenticates even if the client has a token; at most `max_failed_logins`
    logins fail (a service may lock an account), none if the dialect is right.

    Nothing is created or changed: the rooms and users in the calls do not exist, and B1 is sent
    with the token only. `room_id` is a room to use instead, for a service that looks for the room
    before it checks the token; A5 may assign a media server to it. A read-only client sends neither
    B1 nor B2.

    AuthenticationFailed: no login was accepted. Other ConfkitErrors: the service cannot be reached,
    or neither accepts nor rejects the login. Sections 4, 5 and 7 of the interface.
    """
    dialect, unknown = investigate(client, room_id, max_failed_logins=max_failed_logins)
    if unknown:
        warnings.warn(f"not determined: {'; '.join(unknown)}", stacklevel=2)
    return dialect


def investigate(
    client: Client, room_id: str | None = None, *, max_failed_logins: int = 8
) -> tuple[Dialect, list[str]]:
    """Return the dialect, as `probe_dialect` does, and the undetermined settings, with reasons."""
    inquiry = Inquiry(client, max_failed_logins)
    error = inquiry.log_in()
    if error:
        raise error
    unknown = []
    for key, (setting, _) in QUESTIONS.items():
        problem = "this client is read only"
        if not (OPERATIONS[key].write and client.read_only):
            finding = inquiry.find(key, room_id or str(uuid.uuid4()))
            inquiry.dialect, problem = finding.dialect, finding.problem
        if problem:
            unknown.append(f"{setting} ({problem})")
    return inquiry.dialect, unknown


def dialect_line(dialect: Dialect, other: Dialect = _USUAL) -> str:
    """Return the settings that differ from the other dialect's, as `Dialect.of` takes them."""
    settings = asdict(dialect).items()
    return ",".join(f"{name}={value}" for name, value in settings if value != getattr(other, name))


def how_to_set(client: Client, dialect: Dialect) -> str:
    """Return how to set a dialect where the client's other settings come from: beside a profile
    that is named in the call, CONFKIT_DIALECT does not count."""
    line = quote(dialect_line(dialect))
    if client.origins.get("base_url", "").startswith("profile "):
        return f"run: confkit profile add {client.name} --dialect {line}"
    return f"set CONFKIT_DIALECT={line}"


class Finding(NamedTuple):
    """The dialect after trying an operation, the `problem` if it was not determined, and the call
    and result that show it; `refused` is the token, or `ignored`: without it the answer is equal.
    """

    dialect: Dialect
    problem: str
    call: Call
    result: dict[str, Any] | ConfkitError
    refused: bool = False
    ignored: bool = False


class Inquiry:
    """Sends requests through a copy of a client, each once; `dialect` is the right one as far as
    known."""

    def __init__(self, client: Client, max_failed_logins: int) -> None:
        if type(max_failed_logins) is not int or max_failed_logins < 1:
            raise ConfigError(f"max_failed_logins is {max_failed_logins!r}", "Pass an integer > 0.")
        self.client, self.dialect = copy.copy(client), client.dialect
        self.token: Secret | None = None
        self._granted: dict[str, Any] = {}  # by A1
        self._bound = max_failed_logins
        self.ask = self.client.ask_once

    def origin(self, setting: str) -> str:
        """Return a setting's name, and the origin of its value if known."""
        origin = self.client.origins.get(setting)
        return f"{setting} ({origin})" if origin else setting

    def log_in(self) -> ConfkitError | None:
        """Try one signature after another until one is accepted: the dialect's own, then those seen
        in deployments. Store the token and the dialect, or return the error."""
        access_key, secret_key = self.client.access_key, self.client.secret_key
        dialects, cause = self._signatures(), ""
        for dialect in dialects[: self._bound]:
            fields = {"access_key": access_key, "digest": dialect.digest(access_key, secret_key)}
            call, result = self.ask(A1, fields, None, dialect)
            if isinstance(result, dict):
                token = dialect.token_of(result, secret_key)
                if isinstance(token, ConfkitError):
                    return token
                self.token, self.dialect, self._granted = token, dialect, result
                return None
            if call.ret not in REFUSED:
                return result  # which does not depend on the signature
            cause = result.cause.partition(". ")[2]  # what the service itself says
        return self._refusal(dialects, cause)

    def _signatures(self) -> list[Dialect]:
        pairs = product(CHOICES["hash"], CHOICES["signature"])
        others = [replace(self.dialect, hash=name, signature=form) for name, form in pairs]
        return list(dict.fromkeys([self.dialect, *others]))

    def _refusal(self, dialects: list[Dialect], cause: str) -> AuthenticationFailed:
        """Return the error for keys that were refused with the tried signatures."""
        names = [f"{dialect.hash} {dialect.signature}" for dialect in dialects]
        refused, untried = ", ".join(names[: self._bound]), ", ".join(names[self._bound :])
        rest, more = "so a key is probably wrong", ""
        if untried:
            rest = f"not tried (max_failed_logins={self._bound}): {untried}"
            more = ", and ask for hash and form of the signature, or allow more failed logins: "
            more += "confkit probe, or max_failed_logins=8"
        keys = " and ".join(map(self.origin, ("access_key", "secret_key")))
        problem = f"A1 refuses the keys (401); refused: {refused}; {rest}"
        advice = f"Compare {keys} with those of the provider{more}."
        refusal = AuthenticationFailed(problem, advice, cause=cause)
        refusal.ret, refusal.interface, refusal.endpoint = 401, "A", "A1"
        return refusal

    def find(self, key: str, room_id: str) -> Finding:
        """Find the value of a setting with which an operation reads the token: then the answer
        without a token differs."""
        operation, answers, ignored = OPERATIONS[key], list[Answer](), False
        refusals = REFUSED[1:] if operation.write else REFUSED  # of B1 and B2, 401 is not
        ids = {"room_id": room_id, "roomId": room_id}
        ids |= {"userId": str(uuid.uuid4()), "userAddress": "rtsp://192.0.2.1:554/nobody"}
        names = (*operation.required, *operation.optional)
        # Without room, user and address B1 cannot import anything, however faulty the service is.
        fields = {} if operation is B1 else {name: ids[name] for name in names}
        for dialect in self._dialects(*QUESTIONS[key]):
            call, result = self.ask(operation, fields, self.token, dialect)
            answers.append((call, result))
            if isinstance(result, TransportError):
                break  # the others would fail, too
            if call.ret in (None, *refusals, NOT_SUPPORTED, *FAULTS):
                continue
            # By GET, B3 succeeds whether or not it reads the token.
            listed = key == "B3" and call.ret == 0 and call.method == "GET"
            without = call if listed else self.ask(operation, fields, None, dialect)[0]
            refusal = without.ret not in (None, *FAULTS) or without.status in (401, 403)
            same = (without.status, without.ret) == (call.status, call.ret)
            if listed or (refusal and not same):
                return Finding(dialect, "", call, result)
            ignored = ignored or same
        refused = key == "A3" and all(call.ret in REFUSED for call, _ in answers)
        if refused and (finding := self._sign_otherwise(fields)):
            return finding
        served = [answer for answer in answers if answer[0].ret not in (None, NOT_SUPPORTED)]
        call, result = (served or answers)[0]
        problem = f"{key}: {result.summary if isinstance(result, ConfkitError) else 'success'}"
        if call.ret in refusals:
            problem = f"{key} refused the token in every known form that it answered: {call.ret}"
        elif ignored:
            problem += ", with the token and without"
        refused = call.ret in (NOT_SUPPORTED, *refusals)
        return Finding(self.dialect, problem, call, result, refused, ignored)

    def _sign_otherwise(self, fields: dict[str, Any]) -> Finding | None:
        """Try the token in other hashes and forms: A1 may have accepted any digest."""
        random, key = self._granted["random"], self._granted["key"]
        for dialect in self._signatures()[1:]:
            token = dialect.access_token(random, key, self.client.secret_key)
            call, result = self.ask(OPERATIONS["A3"], fields, token, dialect)
            if call.ret not in (None, *REFUSED, *FAULTS):
                self.token = token
                return Finding(dialect, "", call, result)
        return None

    def _dialects(self, setting: str, values: tuple[str | None, ...]) -> list[Dialect]:
        """Return the dialects to try, the known one first: with each value of the setting, and for
        POST each placement."""
        known = self.dialect
        placements = (known.placement, *CHOICES["placement"])
        dialects = [
            replace(known, placement=placement, **{setting: value})
            for value in (getattr(known, setting), *values)
            for placement in (placements if value == "POST" else placements[:1])
        ]
        return list(dict.fromkeys(dialects))
