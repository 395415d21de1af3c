"""A call with a token of the learner's own, which their client does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..endpoints import Endpoint
from ..errors import ApiError, TransportError
from ..secret import Secret
from ..transport import move
from ..wire import Request, interpret, secrets_in, write

if TYPE_CHECKING:
    from ..client import Client


def ret_with(
    client: Client, token: str, endpoint: Endpoint, parameters: Mapping[str, Any]
) -> int | str:
    """The result code of an operation with this token; what else may come is raised."""
    request = Request(endpoint, parameters)
    base = client.base_url if endpoint.interface == "A" else client.outgoing_url
    written = write(request, base, Secret(token), client.dialect)
    answer = move(client.session, written, client.timeout, secrets_in(request, token))
    if isinstance(answer, TransportError):
        raise answer
    try:
        interpret(endpoint, answer, client.dialect)
    except ApiError as error:
        return "" if error.ret is None else error.ret
    return 0
