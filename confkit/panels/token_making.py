"""How a client's access token is made, step by step (section 5 of the interface)."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ..client import on_loopback
from ..endpoints import B2
from ..secret import MASK
from ..signing import digest, hmac_of
from ..text import as_it_is

if TYPE_CHECKING:
    from ..client import Client


class TokenStep(NamedTuple):
    """One value on the way to a token: its `name`, the `value` (*** where it is a secret or could
    make one), `how` it comes about, and how `sure` that is: specified, seen or assumed."""

    name: str
    value: str
    how: str
    sure: str


class TokenSteps(tuple[TokenStep, ...]):
    """The steps in order; `print` shows them as text, a notebook as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(
            f"{number:2} {step.name}: {step.value}\n   {step.how} ({step.sure})"
            for number, step in enumerate(self, 1)
        )

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        rows = "".join(
            f"<tr><td>{number}</td><th scope='row' {left}>{escape(step.name)}</th>"
            f"<td {left}><code style='word-break:break-all'>{escape(step.value)}</code></td>"
            f"<td {left}>{escape(step.how)} <small>({escape(step.sure)})</small></td></tr>"
            for number, step in enumerate(self, 1)
        )
        names = ("no.", "step", "value", "how")
        heads = "".join(f"<th scope='col' {left}>{name}</th>" for name in names)
        return as_it_is(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")


def token_steps(client: Client) -> TokenSteps:
    """Return the steps that make the token which this client holds, from its keys to the request.

    The values are in full for a sandbox with its published demo keys on this machine; everywhere
    else each value that is or could make a secret shows as ***. No token is spent: a new login may
    end the one before it (the interface does not say), so these are the steps of what A1 answered
    last. Without a token yet the client authenticates; errors as of that. Section 5.
    """
    token, dialect, published = client.token(), client.dialect, _published(client)

    def shown(secret: str) -> str:
        return str(secret) if published else MASK

    def sure(seen: bool) -> str:
        return "seen" if seen else "assumed"

    function, sha1 = f"HMAC-{dialect.hash.upper()}", dialect.hash == "sha1"
    in_hex = dialect.signature == "hex"
    message = f"{token.random}:{token.key}"
    mac = hmac_of(client.secret_key, message, dialect)
    signed = digest(client.access_key, client.secret_key, dialect)
    signing = f"base64 of the {'lowercase hex text' if in_hex else 'raw bytes'} of the {function}"
    size = f"{2 * mac.digest_size} characters" if in_hex else f"{mac.digest_size} bytes"
    form = "that hex text, in lower case" if in_hex else "the raw bytes of that HMAC"
    travels = "percent-encoded once: = travels as %3D; B spells the name as the interface does"
    if (in_b2 := dialect.remove_token_parameter) != B2.token:
        travels += f", and B2 as {in_b2} (dialect)"
    steps = (
        ("access key", client.access_key, "names the client; sent in A1", "specified"),
        (
            "secret key",
            shown(client.secret_key),
            "shared with the platform; never sent",
            "specified",
        ),
        (
            "digest",
            shown(signed),
            f"{signing} of the access key under the secret key; sent in A1",
            sure(sha1 and in_hex),
        ),
        ("random", shown(token.random), "from A1's answer", "specified"),
        ("key", shown(token.key), "from A1's answer", "specified"),
        ("message", shown(message), "random and key, joined by a colon", "specified"),
        (
            function,
            shown(mac.hexdigest()),
            "of the message under the secret key, as hex text",
            sure(sha1),
        ),
        (
            "what is encoded",
            size,
            f'{form} (dialect: signature="{dialect.signature}")',
            sure(in_hex),
        ),
        ("token", shown(token), "base64 of that", "specified"),
        (
            "in a request",
            f"{dialect.token_parameter}={shown(quote(token, safe=''))}",
            travels,
            "seen",
        ),
    )
    return TokenSteps(TokenStep(*step) for step in steps)


def _published(client: Client) -> bool:
    """Whether its keys are no secret: those of a sandbox that everybody knows, on loopback."""
    sandbox = client.sandbox
    return (
        sandbox is not None
        and sandbox.published
        and (client.access_key, client.secret_key) == (sandbox.access_key, sandbox.secret_key)
        and on_loopback(client.base_url)
        and on_loopback(client.outgoing_url)
    )
