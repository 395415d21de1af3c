"""Whether A1 accepts the keys, and what is wrong with them or with the dialect when it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..endpoints import A3
from ..errors import ApiError, TransportError
from ..probing.logins import REFUSED, Candidate, Login, Tried, signatures, slips
from ..wire import Request
from .case import Heard
from .mending import set_dialect, told
from .skew import MOST, duration
from .speaking import NO_ROOM

if TYPE_CHECKING:
    from ..checklist import Check
    from .case import Case

_SWAPPED = (
    "See whether access_key and secret_key have changed places: that was not tried, as it would "
    "send the secret in a URL."
)


def authentication(case: Case, name: str) -> Check:
    """Whether the service accepts the keys.

    A client that holds a token which is still accepted keeps it: some services may keep one token a
    key, and a login would end it for everybody who uses it.
    """
    if case.held is not None:
        heard = case.ask(Request(A3, {"room_id": NO_ROOM}), case.held)
        accepted = token_accepted(heard)
        if accepted is None:
            return case.check(
                name, "UNKNOWN",
                "no login was made: this client holds a token, which a login may end, and whether "
                f"it is still accepted cannot be told: {heard.told}", heard.advice,
            )  # fmt: skip
        if accepted:
            case.token = case.held
            return case.check(
                name, "SKIP",
                "no login was made: this client holds a token that is still accepted, and a login "
                "may end it (where a service keeps one token a key; assumed)",
                "To try the keys too, run it with a client that has not called yet, as confkit "
                "doctor does.",
            )  # fmt: skip
    if case.logins.bound == 0:
        return case.check(
            name, "UNKNOWN",
            "no login was made: any login may fail, and max_failed_logins is 0",
            "Allow one: max_failed_logins=1 (--max-failed-logins 1).",
        )  # fmt: skip
    tried = case.logins.first(_candidates(case))
    case.secrets += [
        text for login in tried.logins for text in (login.candidate.digest, login.token) if text
    ]
    first, last = tried.logins[0], tried.logins[-1]
    if last.came == "unclear":
        silent = isinstance(last.error, TransportError)
        return case.check(
            name, "UNKNOWN" if silent else "FAIL", *_unclear(last, len(tried.logins) > 1)
        )
    if first.came == "accepted":
        case.token = first.token
        return case.check(name, "PASS", "A1 accepts the keys, with the signature of the dialect")
    if last.came == "accepted":
        case.token, case.settled = last.token, True
        return case.check(name, "FAIL", *_mended(case, last.candidate))
    return case.check(name, "FAIL", *_refused(case, tried))


def token_accepted(heard: Heard) -> bool | None:
    """Whether an answer shows that the token was accepted; None where it cannot be told."""
    if heard.ret is None:
        return None
    if heard.ret == 0 or heard.ret in (404, 612, 416):
        return True
    return False if heard.ret in REFUSED else None


def _candidates(case: Case) -> list[Candidate]:
    client = case.client
    keys = client.access_key, client.secret_key
    usual, *others = signatures(*keys, client.dialect)
    return [usual, *slips(*keys, client.dialect), *others]


def _mended(case: Case, right: Candidate) -> tuple[str, str]:
    client = case.client
    slipped = [
        setting for setting in ("access_key", "secret_key")
        if getattr(right, setting) != getattr(client, setting)
    ]  # fmt: skip
    if slipped:
        return (
            f"A1 refuses the keys as they are, and accepts them without this slip: {right.what}",
            f"Set {' and '.join(slipped)} again, without it{_places(case, slipped)}.",
        )
    changed = {
        field: getattr(right.dialect, field) for field in ("hash", "signature")
        if getattr(right.dialect, field) != getattr(client.dialect, field)
    }  # fmt: skip
    wanted = f"HMAC-{right.dialect.hash.upper()} as " + (
        "hex text" if right.dialect.signature == "hex" else "raw bytes"
    )
    return (
        f"your secret is right, but this deployment wants its signature in another way: {wanted} "
        f"({told(changed)})",
        set_dialect(case, changed),
    )


def _places(case: Case, settings: Sequence[str] = ("access_key", "secret_key")) -> str:
    origins = [case.client.origins.get(setting) for setting in settings]
    known = ", ".join(dict.fromkeys(origin for origin in origins if origin))
    return f" ({known})" if known else ""


def _refused(case: Case, tried: Tried) -> tuple[str, str]:
    error = tried.logins[-1].error
    code = error.ret if isinstance(error, ApiError) else "no code"
    others = [login.candidate for login in tried.logins[1:]]
    found = f"A1 refuses the keys ({code})"
    if others:
        found += f"; refused as well: {_listed(others)}"
    if tried.open:
        found += (
            f"; not tried, as {case.logins.bound} failed logins are the bound: "
            f"{_listed(tried.open)}"
        )
    else:
        found += "; no hash or form of the signature is left, so most likely a key is wrong"
    found += f"; logins that failed: {case.logins.failed}"
    for setting in ("access_key", "secret_key"):
        if not getattr(case.client, setting).isascii():
            found += f"; {setting} holds letters beyond ASCII, which may have been pasted with it"
    skew = min(case.skews, key=abs, default=0.0)
    if abs(skew) > MOST:
        found += f"; the clocks are {duration(skew)} apart, which should not matter (assumed)"
    steps = [f"Compare both keys{_places(case)} with those of the provider.", _SWAPPED]
    if tried.open:
        steps.append(
            "Ask the provider for hash and form of the signature, or allow more logins to fail "
            "(--max-failed-logins), where accounts do not lock."
        )
    return found, " ".join(steps)


def _listed(candidates: Sequence[Candidate]) -> str:
    said = "the signature is "
    return ", ".join(
        what.removeprefix(said) if what.startswith(said) else f"the keys mended, as {what}"
        for what in (candidate.what for candidate in candidates)
    )


def _unclear(login: Login, after_refusals: bool) -> tuple[str, str]:
    """An answer to A1 that is neither yes nor no: it says nothing of the keys."""
    heard = Heard(None, {}, None, login.error)
    found = f"A1 says nothing of the keys: {heard.told}"
    if after_refusals:
        asked = _listed([login.candidate])
        found = f"A1 refused the keys as they are; asked then with {asked}, {heard.told}"
    return found, heard.advice
