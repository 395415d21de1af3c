"""Both interfaces as an OpenAPI 3.1 description, made from the tables that the client works by."""

import json
from typing import Any

from ..endpoints import SPOKEN
from .answers import schemas
from .operations import paths, token_parameters

_ABOUT = f"""\
A video-conferencing service with two HTTP/JSON interfaces: A for authentication, rooms and the
people in them, B for external devices such as RTSP cameras. Described: {SPOKEN}.

**How sure it is.** `x-sure` marks each operation, parameter, field and code: `specified` by the
interface, `seen` in other deployments, `assumed` by us, or `unknown` where no meaning is known.
How a deployment differs is found out by `confkit probe`.

**Authentication.** A1 answers `random` and `key`; the access token is base64(hash_hmac(random:key,
secret_key)), passed to every other operation of both interfaces. Hash and form of hash_hmac are
not shown; seen: the lowercase hex text of HMAC-SHA1. With access key demo_access, secret key
demo_secret, random abc and key def, the examples of digest and token are the right ones. `=` is
percent-encoded once.

**Results.** Every answer is a JSON object with a result code in `ret` (in B of older deployments:
`result`), 0 for success. The code 401 means *authentication failed* in A and *wrong parameters* in
B.

**Changes by GET.** Operations with `x-write: true` change something although they are GET: do not
prefetch or repeat them.

**Not described: JSONP.** Browser clients were seen to add `callback=NAME` and to get
`NAME({{...}})`. Such an answer is a script, not JSON, so no schema can describe it, and to run what
a service sends is nothing to generate clients for; without `callback` the same answer is plain
JSON.
"""


def document() -> dict[str, Any]:
    """The OpenAPI 3.1 description of both interfaces, as plain values; a new one in each call."""
    description = {
        "openapi": "3.1.0",
        "info": {
            "title": "Conferencing media and external-device interfaces",
            "version": "A-1.0.5+B-1.02",
            "summary": "Rooms, users and external devices of a video-conferencing service.",
            "description": _ABOUT,
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "tags": [
            {"name": "Interface A", "description": "Authentication, rooms, users, media server."},
            {"name": "Interface B", "description": "External devices as users of a room."},
        ],
        "paths": paths(),
        "components": {"schemas": schemas(), "parameters": token_parameters()},
    }
    copied: dict[str, Any] = json.loads(json.dumps(description))
    return copied


def text() -> str:
    """The description as JSON, for tools that read OpenAPI (3.1) from a file."""
    return json.dumps(document(), ensure_ascii=False, indent=2) + "\n"
