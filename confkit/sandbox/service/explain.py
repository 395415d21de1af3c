"""Why a call was refused, in words for the person who wrote it.

Pure functions without I/O. No text that they give holds a secret or quotes a value that came in.
"""

from collections.abc import Collection, Mapping

from ...endpoints import ENDPOINTS, Endpoint

_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")  # what came is not quoted
TOKEN_SPELLINGS = ("access_token", "accessToken", "access_tocken", "token")


def missing(
    endpoint: Endpoint, name: str, given: Collection[str], elsewhere: Mapping[str, str], place: str
) -> str:
    """Return why a parameter was not found: another spelling, another place, or not there at all.

    `given` are the names that came where they belong (`place`), `elsewhere` maps the names that
    came in another place to that place.
    """
    spellings = {_plain(spelling) for spelling in TOKEN_SPELLINGS}
    if _plain(name) not in spellings:
        spellings = {_plain(name)}
    for other in (*given, *elsewhere):
        if other != name and _plain(other) in spellings:
            return f"{endpoint.key} spells it {name}, not {other}"
    if name in elsewhere:
        return f"parameters belong in the {place} here, not in the {elsewhere[name]} ({name})"
    known = {*endpoint.required, *endpoint.optional, "callback", *TOKEN_SPELLINGS}
    strangers = [other for other in given if _plain(other) not in map(_plain, known)]
    # Only what can be a name is quoted: a token that lost its name would stand in its place.
    strangers = [other for other in strangers if other.isidentifier() and len(other) < 25]
    hint = f"; {endpoint.key} does not know {', '.join(strangers[:5])}" if strangers else ""
    return f"{name} is missing{hint}"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def wrong_route(path: str, method: str, interface: str, methods: Mapping[str, str]) -> str:
    """Return why no operation was found: `methods` maps the paths of this port to their methods."""
    for endpoint in ENDPOINTS.values():
        if endpoint.path == path and endpoint.interface != interface:
            return (
                f"{endpoint.key} is served on the port of interface {endpoint.interface}, "
                f"this is the port of {interface}"
            )
        if endpoint.path == path:
            used = method if method in _METHODS else "another method"
            return f"{endpoint.key} is {methods[path]} here, not {used}"
    return f"unknown path; interface {interface} has {', '.join(methods)}"
