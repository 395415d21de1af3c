"""A client that knows the OpenAPI description and nothing else of the interface."""

import json
from collections.abc import Iterator
from typing import Any

import requests
from jsonschema import Draft202012Validator

from confkit.cli.services import openapi

DOCUMENT: dict[str, Any] = json.loads(openapi())


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each operation as path, HTTP method and what is said of it."""
    for path, item in DOCUMENT["paths"].items():
        yield from ((path, method, item[method]) for method in ("get", "post") if method in item)


def find(value: dict[str, Any]) -> dict[str, Any]:
    """The value, or what it refers to."""
    while "$ref" in value:
        found: Any = DOCUMENT
        for step in value["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        value = found
    return value


def valid(schema: dict[str, Any], value: Any) -> bool:
    """Whether a schema that stands somewhere in the document allows a value."""
    whole = {"allOf": [schema], "components": DOCUMENT["components"]}
    return Draft202012Validator(whole).is_valid(value)


class Operation:
    """Calls an operation by its ID, as the document says that it is called."""

    def __init__(self, operation_id: str, **servers: str) -> None:
        self._path, self._method, told = next(
            one for one in operations() if one[2]["operationId"] == operation_id
        )
        [server] = DOCUMENT["paths"][self._path]["servers"]
        self._url = server["url"].format_map(servers) + self._path
        self._answer = told["responses"]["200"]["content"]["application/json"]["schema"]
        self._by_body = "requestBody" in told
        if self._by_body:
            form, other = (part["schema"] for part in told["requestBody"]["content"].values())
            assert form == other
            self.names = {name: name in form["required"] for name in form["properties"]}
            self._schemas = form["properties"]
        else:
            given = [find(parameter) for parameter in told["parameters"]]
            self.names = {one["name"]: one["required"] for one in given}
            self._schemas = {
                one["name"]: one.get("schema") or one["content"]["application/json"]["schema"]
                for one in given
            }

    def fits(self, values: dict[str, Any]) -> bool:
        """Whether the description allows a call with these values."""
        return all(
            valid(self._schemas[name], values[name]) if name in values else not required
            for name, required in self.names.items()
        )

    def call(self, values: dict[str, Any], as_json: bool) -> dict[str, Any]:
        """The answer, which is an answer or an error answer of this operation's description."""
        written = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in values.items()
        }
        sent = {"params": written}
        if self._by_body:
            sent = {"json": values} if as_json else {"data": written}
        reply = requests.request(self._method, self._url, timeout=20, **sent)
        assert reply.headers["content-type"] == "application/json"
        answer: dict[str, Any] = reply.json()
        assert self.says(answer), answer
        return answer

    def says(self, answer: Any, success: bool | None = None) -> bool:
        """Whether the description allows the answer, as a success or as an error."""
        of = self._answer if success is None else self._answer["oneOf"][0 if success else 1]
        return valid(of, answer)
