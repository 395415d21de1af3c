"""Whether a text holds a secret, in any of the ways in which a saved notebook could hold it."""

import base64
import json
from urllib.parse import quote, quote_plus


def holds(text: str, secret: str) -> list[str]:
    """The forms of the secret that stand in the text: raw, as JSON, percent-encoded, base64."""
    data = secret.encode()
    json_form = json.dumps(secret)[1:-1]
    looked_for = {
        "raw": [secret],
        "as JSON": [json_form, json.dumps(json_form)[1:-1], json.dumps(secret, ensure_ascii=False)],
        "percent-encoded": [quote(secret, safe=""), quote(secret), quote_plus(secret)],
        "base64": [form for shift in range(3) for form in _inner(data, shift)],
        "reversed": [secret[::-1]],
        "in hexadecimal": [data.hex()],
    }
    return [name for name, forms in looked_for.items() if any(form in text for form in forms)]


def _inner(data: bytes, shift: int) -> list[str]:
    """The base64 of the data within other data: without what its neighbours would change."""
    text = base64.b64encode(b"\0" * shift + data).decode()
    certain = text[(0, 2, 3)[shift] : len(text) - (0, 4, 4)[(shift + len(data)) % 3]]
    return [certain, certain.replace("+", "-").replace("/", "_")]
