"""The OpenAPI description, a file that is checked in, says what the tables say."""

import json
import re
from collections.abc import Iterator
from typing import Any

from confkit.cli import main
from confkit.cli.services import SPOKEN, openapi
from confkit.dialect import Dialect
from confkit.errors import codes
from confkit.operations import OPERATIONS

DOCUMENT: dict[str, Any] = json.loads(openapi())


def operations(method: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each operation of this HTTP method: its path, and its description."""
    return ((path, item[method]) for path, item in DOCUMENT["paths"].items() if method in item)


def resolved(value: dict[str, Any]) -> dict[str, Any]:
    """The value, or what its $ref points to."""
    while "$ref" in value:
        target: Any = DOCUMENT
        for step in value["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        value = target
    return value


def test_it_describes_the_operations_as_our_table_does():
    """B1 and B3 also as POST; the examples of digest and token are what the demo keys make."""
    assert SPOKEN in DOCUMENT["info"]["description"].replace("\n", " ")
    assert [operation["x-endpoint"] for _, operation in operations("get")] == list(OPERATIONS)
    assert [operation["x-endpoint"] for _, operation in operations("post")] == ["B1", "B3"]
    examples: dict[str, list[str]] = {}
    for path, operation in operations("get"):
        endpoint = OPERATIONS[operation["x-endpoint"]]
        parameters = [resolved(parameter) for parameter in operation["parameters"]]
        required = [parameter["name"] for parameter in parameters if parameter["required"]]
        assert path == endpoint.path
        assert required == [*filter(None, [endpoint.token]), *endpoint.required]
        assert set(endpoint.optional) <= {parameter["name"] for parameter in parameters}
        assert operation["x-main-codes"] == list(endpoint.codes)
        assert operation["x-write"] == endpoint.write
        for parameter in parameters:
            examples[parameter["name"]] = parameter.get("schema", {}).get("examples")
    digest = Dialect().digest("demo_access", "demo_secret")
    token = Dialect().access_token("abc", "def", "demo_secret")
    assert examples["digest"] == [digest.reveal()]
    assert examples["access_token"] == examples["accessToken"] == [token.reveal()]


def test_it_lists_every_result_code():
    for interface, name in {"A": "ResultCodeA", "B": "ResultCodeB", "": "ResultCodeSeen"}.items():
        rows = DOCUMENT["components"]["schemas"][name]["oneOf"]
        assert [(row["const"], row["title"], row["x-sure"], row["x-retry"]) for row in rows] == [
            (code.ret, code.meaning, code.sure, code.retry)
            for code in codes()
            if code.interface == interface
        ]


def test_the_command_prints_it(capsys):
    assert main(["interface", "--openapi"]) == 0
    assert json.loads(capsys.readouterr().out) == DOCUMENT


def test_it_refuses_what_the_sandbox_refuses():
    """An empty key or digest, a device's address of another scheme, a mode that rooms have not."""
    parameters = {
        parameter["name"]: resolved(parameter)["schema"]
        for _, operation in operations("get")
        for parameter in map(resolved, operation["parameters"])
        if "schema" in parameter
    }
    for name in ("access_key", "digest", "access_token", "accessToken", "userId", "room_id"):
        assert parameters[name]["minLength"] == 1, name
    assert [mode["const"] for mode in parameters["room_mode"]["oneOf"]] == [1, 2, 3, 4]
    bodies = [operation["requestBody"]["content"] for _, operation in operations("post")]
    schemas = [kind["schema"]["properties"] for body in bodies for kind in body.values()]
    patterns = {each["userAddress"]["pattern"] for each in schemas if "userAddress" in each}
    [pattern] = patterns | {parameters["userAddress"]["pattern"]}
    for address in ("rtsp://h:554/x", "RTSPS://h", "sip://a@h:5060", "h323://[::1]/"):
        assert re.search(pattern, address), address
    for address in (
        "",
        "https://h/",
        "rtsp://",
        "rtsp:///x",
        " rtsp://h/",
        "rtsp://h/a b",
        "h:554",
    ):
        assert not re.search(pattern, address), address
