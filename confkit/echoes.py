"""Whether the answer to a change names what was changed: another's answer says nothing of it."""

from collections.abc import Mapping
from typing import Any

from .endpoints import Endpoint
from .errors import OutcomeUnknown
from .records import shown


def same(endpoint: Endpoint, fields: object, **asked: str | None) -> None:
    """Nothing, where an answer names what was asked for, or names nothing; else OutcomeUnknown."""
    named: Mapping[str, Any] = fields if isinstance(fields, Mapping) else {}
    for name, value in asked.items():
        came = named.get(name)
        if isinstance(came, str | int) and str(came) not in ("", value):
            raise OutcomeUnknown(
                f"{endpoint.title} ({endpoint.key}) was sent for {name} {shown(value)} and "
                f"answered for {shown(came)}, so it may or may not have happened. Look for a proxy "
                "or a cache between here and the service, and on the service before you repeat it."
            )
