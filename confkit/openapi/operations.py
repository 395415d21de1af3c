"""The ten operations as paths; B1 and B3 also as POST, which a deployment may want (section 4)."""

from typing import Any, NamedTuple

from ..endpoints import ENDPOINTS, Endpoint
from .result_codes import meaning_of
from .values import EXTRA, PARAMETERS, Schema


class _Named(NamedTuple):
    operation_id: str
    answer: str


_NAMES = {
    "A1": _Named("authenticate", "Authenticated"),
    "A2": _Named("createRoom", "RoomCreated"),
    "A3": _Named("getRoom", "Room"),
    "A4": _Named("deleteRoom", "RoomDeleted"),
    "A5": _Named("getMcu", "MediaServer"),
    "A6": _Named("getRoomUsers", "RoomUsers"),
    "A7": _Named("forceOffline", "ForcedOffline"),
    "B1": _Named("createDevice", "DeviceCreated"),
    "B2": _Named("deleteDevice", "DeviceDeleted"),
    "B3": _Named("listDevices", "DeviceList"),
}
_SERVERS = {
    "A": ("base_url", "http://127.0.0.1:8080", "Interface A, on port 8080 of the service."),
    "B": ("outgoing_url", "http://127.0.0.1:8050", "Interface B, on port 8050 of the service."),
}
_METHOD_NOT_SHOWN = "The interface shows no HTTP method for this operation; "
_EMPTY_IS_ALL = " Empty or left out: the devices of all rooms."
TOKENS = {
    "access_token": "The token, made anew from random and key of A1. Older deployments spell the "
    "parameter access_tocken in interface A, one calls it token in A5, and one accessToken in B2 "
    "(seen).",
    "accessToken": "The same token; B1 and B3 spell it accessToken, B2 spells it access_token.",
}
_A_TOKEN: Schema = {
    "type": "string", "minLength": 1,
    "examples": ["NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="],
}  # fmt: skip


def paths() -> dict[str, Any]:
    """Every path with its server and its operations."""
    return {endpoint.path: _path(endpoint) for endpoint in ENDPOINTS.values()}


def token_parameters() -> dict[str, Any]:
    """The token in its two spellings, as parameters that operations refer to."""
    return {
        name: {"name": name, "in": "query", "required": True, "description": description,
               "schema": _A_TOKEN, "x-sure": "specified"}
        for name, description in TOKENS.items()
    }  # fmt: skip


def _path(endpoint: Endpoint) -> dict[str, Any]:
    variable, default, words = _SERVERS[endpoint.interface]
    settings = {"default": default, "description": f"{words} The default is `confkit sandbox`."}
    path: dict[str, Any] = {
        "servers": [{"url": f"{{{variable}}}", "description": words,
                     "variables": {variable: settings}}],
        "get": _get(endpoint),
    }  # fmt: skip
    if endpoint.key in ("B1", "B3"):
        path["post"] = _post(endpoint)
    return path


def _operation(endpoint: Endpoint, sure: str, words: str) -> dict[str, Any]:
    codes = "; ".join(f"{ret} {meaning_of(ret, endpoint.interface)}" for ret in endpoint.codes)
    name = _NAMES[endpoint.key]
    answer, error = (
        f"#/components/schemas/{s}" for s in (name.answer, f"Error{endpoint.interface}")
    )
    wrong = {"application/json": {"schema": {"$ref": error}}}
    both = {"application/json": {"schema": {"oneOf": [{"$ref": answer}, {"$ref": error}]}}}
    return {
        "operationId": name.operation_id,
        "summary": f"{endpoint.key}. {endpoint.title[0].upper()}{endpoint.title[1:]}",
        "description": words,
        "tags": [f"Interface {endpoint.interface}"],
        "responses": {
            "200": {"description": f"Success or an error, as ret tells. Main codes: {codes}.",
                    "content": both, "x-sure": "assumed"},
            "default": {"description": "How codes go with HTTP statuses is not shown: an error may "
                        "come under another status.", "content": wrong, "x-sure": "assumed"},
        },
        "x-endpoint": endpoint.key,
        "x-main-codes": list(endpoint.codes),
        "x-write": endpoint.write,
        "x-sure": sure,
    }  # fmt: skip


def _get(endpoint: Endpoint) -> dict[str, Any]:
    sure, words = "specified", "Parameters travel in the query string (seen)."
    if endpoint.key in ("B1", "B3"):
        sure, words = "seen", f"{_METHOD_NOT_SHOWN}GET is what deployed services take. {words}"
    token = [{"$ref": f"#/components/parameters/{endpoint.token}"}] if endpoint.token else []
    rest = [_parameter(endpoint, name) for name in _names(endpoint)]
    return {**_operation(endpoint, sure, words), "parameters": [*token, *rest]}


def _names(endpoint: Endpoint) -> list[str]:
    return [*endpoint.required, *endpoint.optional, *EXTRA.get(endpoint.key, ())]


def _parameter(endpoint: Endpoint, name: str) -> dict[str, Any]:
    schema = dict(_value(endpoint, name))
    description, sure = schema.pop("description"), schema.pop("x-sure")
    parameter = {"name": name, "in": "query", "required": name in endpoint.required}
    if name == "options":
        words = f"{description} The JSON text of an object in one parameter (seen)."
        content = {"application/json": {"schema": schema}}
        return {**parameter, "description": words, "content": content, "x-sure": sure}
    return {**parameter, "description": description, "schema": schema, "x-sure": sure}


def _value(endpoint: Endpoint, name: str) -> Schema:
    value = PARAMETERS[name]
    if name in endpoint.required or "minLength" not in value:
        return value
    optional = {key: part for key, part in value.items() if key != "minLength"}
    return {**optional, "description": value["description"] + _EMPTY_IS_ALL}


def _post(endpoint: Endpoint) -> dict[str, Any]:
    words = (
        f"{_METHOD_NOT_SHOWN}a deployment may want POST, with the parameters as a form, as a JSON "
        "object, or in the query string as in GET. Ask it with `confkit probe`, or the provider."
    )
    token = endpoint.token or ""
    body = {
        "type": "object",
        "properties": {
            token: {**_A_TOKEN, "description": TOKENS[token], "x-sure": "specified"},
            **{name: _value(endpoint, name) for name in _names(endpoint)},
        },
        "required": [token, *endpoint.required],
    }
    form: dict[str, Any] = {"schema": body}
    if "options" in endpoint.optional:
        form["encoding"] = {"options": {"contentType": "application/json"}}
    content = {"application/x-www-form-urlencoded": form, "application/json": {"schema": body}}
    operation = _operation(endpoint, "assumed", words)
    return {
        **operation,
        "operationId": f"{operation['operationId']}ByPost",
        "summary": f"{operation['summary']}, by POST",
        "requestBody": {"required": True, "content": content},
    }
