"""A client that knows the OpenAPI description and nothing else of the interface."""

import json
from collections.abc import Iterator
from typing import Any

import requests
from jsonschema import Draft202012Validator

from confkit.cli.services import openapi

METHODS = ("get", "post")


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each operation as path, HTTP method and what is said of it."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def find(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """The value, or what it refers to."""
    while "$ref" in value:
        found: Any = document
        for step in value["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        value = found
    return value


def schema_of(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    """A validator of a schema that stands somewhere in the document."""
    return Draft202012Validator({"allOf": [schema], "components": document["components"]})


class Described:
    """Calls operations by their ids, as the document says that they are called."""

    def __init__(self, **servers: str) -> None:
        self.document = json.loads(openapi())
        self._servers = servers
        self._http = requests.Session()
        self._http.trust_env = False
        self._answers: dict[tuple[str, bool | None], Draft202012Validator] = {}
        self._all = {
            told["operationId"]: (path, method, told)
            for path, method, told in operations(self.document)
        }

    def names(self, operation_id: str) -> dict[str, bool]:
        """The parameters of an operation, or the members of its body: name to required."""
        _, _, told = self._all[operation_id]
        if "requestBody" in told:
            bodies = [part["schema"] for part in told["requestBody"]["content"].values()]
            assert all(body == bodies[0] for body in bodies)
            return {name: name in bodies[0]["required"] for name in bodies[0]["properties"]}
        given = [find(self.document, parameter) for parameter in told["parameters"]]
        return {parameter["name"]: parameter["required"] for parameter in given}

    def fits(self, operation_id: str, values: dict[str, Any]) -> bool:
        """Whether the description allows a call with these values."""
        _, _, told = self._all[operation_id]
        if "requestBody" in told:
            [body, *_] = told["requestBody"]["content"].values()
            return schema_of(self.document, body["schema"]).is_valid(values)
        given = [find(self.document, parameter) for parameter in told["parameters"]]
        return all(self._fits(parameter, values) for parameter in given)

    def _fits(self, parameter: dict[str, Any], values: dict[str, Any]) -> bool:
        if parameter["name"] not in values:
            return not parameter["required"]
        schema = parameter.get("schema") or parameter["content"]["application/json"]["schema"]
        return schema_of(self.document, schema).is_valid(values[parameter["name"]])

    def call(self, operation_id: str, values: dict[str, Any], body: str = "") -> dict[str, Any]:
        """The answer, which is an answer or an error answer of this operation's description."""
        path, method, told = self._all[operation_id]
        [server] = self.document["paths"][path]["servers"]
        url = server["url"].format_map(self._servers) + path
        written = {name: _text(value) for name, value in values.items()}
        if "requestBody" not in told:
            reply = self._http.request(method, url, params=written, timeout=20)
        elif body.endswith("json"):
            reply = self._http.post(url, json=values, timeout=20)
        else:
            reply = self._http.post(url, data=written, timeout=20)
        assert reply.headers["content-type"] == "application/json"
        answer: dict[str, Any] = reply.json()
        assert self.says(operation_id, answer), answer
        return answer

    def says(self, operation_id: str, answer: Any, success: bool | None = None) -> bool:
        """Whether the description allows the answer, as a success or as an error."""
        key = operation_id, success
        if key not in self._answers:
            _, _, told = self._all[operation_id]
            schema = told["responses"]["200"]["content"]["application/json"]["schema"]
            if success is not None:
                schema = schema["oneOf"][0 if success else 1]
            self._answers[key] = schema_of(self.document, schema)
        return self._answers[key].is_valid(answer)

    def close(self) -> None:
        """Lets go of its connections."""
        self._http.close()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
