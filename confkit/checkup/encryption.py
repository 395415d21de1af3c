"""TLS on the way to an interface: the certificate, and a port that speaks the other way."""

from __future__ import annotations

import ssl
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.util.ssl_ import create_urllib3_context

from ..transport import DeadlineAdapter
from .case import SETTINGS
from .reaching import Way, opened, way

if TYPE_CHECKING:
    from ..checklist import Check
    from ..endpoints import Interface
    from .case import Case

GLANCE_SECONDS = 2.0  # to find out what a port speaks
_SOON = 14  # days
# What OpenSSL says of a certificate (its X509_V_ERR codes).
_NOT_YET, _EXPIRED, _SELF_SIGNED, _WRONG_NAMES, _UNKNOWN = 9, 10, 18, (62, 64), (19, 20, 21)


def tls_of(case: Case, name: str, interface: Interface) -> Check:
    """Whether the port speaks TLS with a certificate that this client accepts."""
    url = case.url(interface)
    if url.startswith("http:"):
        return case.check(name, "SKIP", "the address says http, so there is no TLS")
    there = way(case, interface)
    if there.proxy or type(case.client.session.get_adapter(url)) is not DeadlineAdapter:
        through = "a proxy" if there.proxy else "an adapter of your own"
        return case.check(name, "SKIP", f"the way leads through {through}: HTTP tells")
    session = case.client.session
    merged = session.merge_environment_settings(url, {}, None, session.verify, None)
    verify = True if merged["verify"] is None else merged["verify"]
    try:
        context = _context(verify, session.cert)
    except OSError as error:  # ssl.SSLError too
        return case.check(
            name, "FAIL",
            f"the certificates to trust, or this client's own, cannot be read from {verify!r}"
            f" ({error.strerror or type(error).__name__})",
            "Set verify (CONFKIT_CA_BUNDLE) to a readable file of PEM certificates.",
        )  # fmt: skip
    seconds = case.patience()
    try:
        found = _greeted(there, context, seconds)
    except ssl.SSLCertVerificationError as error:
        cause, advice = _refusal(error, there, context, seconds, verify)
        return case.check(name, "FAIL", cause, advice)
    except OSError as error:
        if isinstance(error, TimeoutError):
            case.gave_up()
        cause, advice = _no_tls(error, there, case.patience(GLANCE_SECONDS), interface)
        return case.check(name, "FAIL", cause, advice)
    version, certificate = found
    if verify is False:
        return case.check(
            name, "PASS", f"{version}; the certificate was not looked at (verify=False)",
            "Set verify to the file of the authority that signed it: without that anybody on the "
            "way can pose as the service.",
        )  # fmt: skip
    return case.check(name, "PASS", *_told(version, certificate, case.now()))


def _context(verify: bool | str, cert: Any) -> ssl.SSLContext:
    trusted = verify if isinstance(verify, str) else DEFAULT_CA_BUNDLE_PATH
    folder = Path(trusted).is_dir()
    context = create_urllib3_context()  # with the options of the calls themselves
    context.load_verify_locations(None if folder else trusted, trusted if folder else None)
    if verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if cert:
        context.load_cert_chain(*((cert,) if isinstance(cert, str) else cert))
    return context


def _greeted(there: Way, context: ssl.SSLContext, seconds: float) -> tuple[str, dict[str, Any]]:
    """The version of TLS and the certificate, as far as it was looked at."""
    with opened(there, seconds) as plain:
        plain.settimeout(seconds)
        with context.wrap_socket(plain, server_hostname=there.host) as secure:
            return secure.version() or "TLS", secure.getpeercert() or {}


def _told(version: str, certificate: dict[str, Any], now: float) -> tuple[str, str]:
    until = certificate.get("notAfter", "")
    with suppress(ValueError):
        moment = ssl.cert_time_to_seconds(until)
        until = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
        if moment - now < _SOON * 86400:
            soon = f"Ask the operator to renew the certificate: it ends on {until}."
            return f"{version}, and the certificate is accepted until {until}", soon
    return f"{version}, and the certificate is accepted until {until}", ""


def _refusal(
    error: ssl.SSLCertVerificationError, there: Way, context: ssl.SSLContext, seconds: float,
    verify: bool | str,
) -> tuple[str, str]:  # fmt: skip
    code, why = error.verify_code, error.verify_message
    if code == _EXPIRED:
        return (
            "the certificate has expired",
            "Ask the operator to renew it; and see that this machine's clock is right.",
        )
    if code == _NOT_YET:
        return (
            "the certificate is not valid yet",
            "See that this machine's clock is right; then ask the operator.",
        )
    if code in _WRONG_NAMES:
        names = _names(there, context, seconds)
        return (
            f"the certificate is for another name than {there.host}"
            + (f": {', '.join(names)}" if names else ""),
            "Set the address to a name that the certificate holds, or ask the operator for one "
            "that holds this name.",
        )
    trusted = f"the bundle {verify!r}" if isinstance(verify, str) else "the public authorities"
    if code == _SELF_SIGNED:
        return (
            f"the certificate is self-signed, and not among {trusted}",
            "Get the certificate from the operator as a PEM file and set verify to it "
            "(CONFKIT_CA_BUNDLE).",
        )
    if code not in _UNKNOWN:
        return (
            f"the certificate is refused: {why}",
            "Ask the operator for one without this fault; newer Pythons insist on more than older.",
        )
    return (
        f"the certificate is signed by an authority that is not among {trusted}",
        "Get the authority's certificate, with those between, from the operator as a PEM file "
        "and set verify to it (CONFKIT_CA_BUNDLE).",
    )


def _names(there: Way, context: ssl.SSLContext, seconds: float) -> list[str]:
    """The names that a certificate holds which is fine but for its name."""
    context.check_hostname = False
    try:
        certificate = _greeted(there, context, seconds)[1]
    except OSError:
        return []
    return [str(value) for _, value in certificate.get("subjectAltName", ())]


def _no_tls(error: OSError, there: Way, seconds: float, interface: Interface) -> tuple[str, str]:
    setting = SETTINGS[interface]
    if speaks_http(there, seconds):
        return (
            f"{there.place} speaks plain HTTP, and the address says https",
            f"Write http:// in {setting}, or ask the operator for the port that speaks TLS.",
        )
    if isinstance(error, TimeoutError):
        return (
            f"{there.place} accepted a connection and then said nothing",
            "Ask the operator whether this port speaks TLS, and whether the service hangs.",
        )
    reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
    return (
        f"no TLS came about at {there.place} ({reason or type(error).__name__})",
        f"Check the port in {setting}, and ask the operator which versions of TLS it speaks and "
        "whether it wants a certificate of the client.",
    )


def speaks_http(there: Way, seconds: float) -> bool:
    """Whether a port answers a plain question of HTTP."""
    with suppress(OSError), opened(there, seconds) as plain:
        plain.settimeout(seconds)
        ask = f"HEAD / HTTP/1.1\r\nHost: {there.host}\r\nConnection: close\r\n\r\n"
        plain.sendall(ask.encode())
        return plain.recv(5) == b"HTTP/"
    return False


def speaks_tls(there: Way, seconds: float) -> bool:
    """Whether a port answers a greeting of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        _greeted(there, context, seconds)
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "").upper()  # an alert is an answer, too
    except OSError:
        return False
    return True
