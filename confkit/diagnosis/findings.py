"""What a diagnosis says: a verdict with its sentences, and calls to run, never with a password."""

from __future__ import annotations

import tomllib
from pathlib import Path
from shlex import quote

from ..errors import ConfkitError, TransportError
from ..records import Device
from ..rtsp.report import Report
from ..secret import redact
from .device_address import bare, login_of

VERDICTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("verdicts.toml").read_text("utf-8")
)
_LISTED = VERDICTS.pop("listed")


class Found(Exception):  # it is what was looked for
    """What keeps the device out, and the way ends here; `stage` is the one at which it shows, ""
    the last one."""

    def __init__(self, verdict: str, cause: str, advice: str, stage: str = "") -> None:
        super().__init__(verdict)
        self.verdict, self.stage = verdict, stage
        self.cause, self.advice = cause[:1].upper() + cause[1:], advice


def found(verdict: str, service: str, device: Device, tried: bool, /, **more: object) -> Found:
    """Return a verdict about a device; `tried`: its camera's own report follows; `more` adds to
    what the sentences are filled with."""
    facts = {
        "service": service,
        "room": repr(device.room_id),
        "device": named(device),
        "line": preflight_line(device),
        "call": import_call(device),
        "remove": remove_call(device),
        "diagnose": diagnose_call(device),
        **more,
    }
    row = VERDICTS[verdict]
    advice = row["advice"] if tried else row.get("untried", row["advice"])
    if device.user_address is None:
        advice = row.get("unknown", advice)
    cause = row["cause"].format_map(facts)
    return Found(verdict, cause, advice.format_map(facts), row.get("stage", ""))


def of_camera(camera: Report, listed: Device | None = None) -> Found:
    """Return what the camera's own report says; `listed` is a device with whose address and login
    the service goes on dialling."""
    advice = camera.advice
    if listed is not None:
        more = _LISTED.get(camera.verdict, _LISTED["other"]).format(remove=remove_call(listed))
        advice = f"{advice} {more}".strip()
    return Found(camera.verdict, camera.cause, advice, "camera")


def of_error(error: ConfkitError, stage: str = "") -> Found:
    """Return what the service, or the way to it, answered in place of what was asked."""
    lost = "The service could not be asked: " if isinstance(error, TransportError) else ""
    advice = error.advice or "Correct that, then diagnose it again."
    return Found("service_error", f"{lost}{error.summary}.", advice, stage)


def named(device: Device) -> str:
    """Return what a device is called in a sentence."""
    if device.user_id:
        return f"device {_user_id(device)!r}"
    return "any device" if device.user_address is None else f"the camera at {bare(device)}"


def import_call(device: Device) -> str:
    """Return the call that imports a device."""
    name = redact(device.user_name or "NAME")
    call = ", ".join(map(repr, (device.room_id, _user_id(device), name, bare(device))))
    return f"ck.import_device(client, {call}{_login(device)}, preflight=True, verify=True)"


def remove_call(device: Device) -> str:
    """Return the call that takes a device out of its room."""
    return f"ck.remove_device(client, {device.room_id!r}, {_user_id(device)!r})"


def diagnose_call(device: Device) -> str:
    """Return the call that finds out what keeps a device out; dots where its address is unknown."""
    if device.user_address is None:
        address, login = "'rtsp://...'", ", login_name='NAME', login_password=ck.ask_secret()"
    else:
        address, login = repr(bare(device)), _login(device)
    given = f"{device.room_id!r}, {_user_id(device)!r}, {address}"
    return f"ck.diagnose_device(client, {given}{login})"


def diagnose_line(room_id: str, user_id: str | None) -> str:
    """Return the command that does the same for a camera whose address is unknown."""
    named = f"{quote(room_id)} {quote(redact(user_id or 'USER_ID'))}"
    return f"confkit diagnose {named} --address rtsp://... [--login-name NAME]"


def preflight_line(device: Device) -> str:
    """Return the command that tries a device's camera on another host."""
    name = login_of(device)[0]
    login = f" --login-name {quote(name)}" if name else ""
    return f"confkit preflight {quote(bare(device))}{login}"


def _user_id(device: Device) -> str:
    return redact(device.user_id or "USER_ID")  # some are called by their address


def _login(device: Device) -> str:
    name = login_of(device)[0]
    return f", login_name={name!r}, login_password=ck.ask_secret()" if name else ""
