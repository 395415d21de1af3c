"""The OpenAPI description by itself: well-formed, whole, marked, its examples true."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from confkit import signing
from confkit.cli import main
from confkit.cli.services import SPOKEN
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from confkit.errors import codes
from tests.openapi.described import DOCUMENT, find, operations, valid


def everything(value: Any = DOCUMENT, place: str = "") -> Iterator[tuple[str, Any]]:
    """Each object of the document with its place in it."""
    if isinstance(value, dict):
        yield place, value
        for name, inner in value.items():
            yield from everything(inner, f"{place}/{name}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from everything(inner, f"{place}/{at}")


def test_every_schema_is_one_and_every_reference_leads_somewhere():
    """Schemas are Draft 2020-12; each component is used, and no reference is a dead end."""
    kinds = DOCUMENT["components"]
    for _, value in everything():
        if isinstance(value.get("schema"), dict):
            Draft202012Validator.check_schema(value["schema"])
    for schema in kinds["schemas"].values():
        Draft202012Validator.check_schema(schema)
    used = {value["$ref"] for _, value in everything() if isinstance(value.get("$ref"), str)}
    assert all(find({"$ref": reference}) for reference in used)
    assert used == {f"#/components/{kind}/{name}" for kind in kinds for name in kinds[kind]}


def test_every_operation_is_there_once_with_its_tables():
    """Each operation has an id of its own, its path, its parameters in order, and its codes."""
    ids = Counter(told["operationId"] for _, _, told in operations())
    assert max(ids.values()) == 1
    assert set(DOCUMENT["paths"]) == {endpoint.path for endpoint in ENDPOINTS.values()}
    gets = {
        told["x-endpoint"]: (path, told) for path, method, told in operations() if method == "get"
    }
    assert list(gets) == list(ENDPOINTS)
    for key, (path, told) in gets.items():
        endpoint = ENDPOINTS[key]
        given = [find(parameter) for parameter in told["parameters"]]
        required = [parameter["name"] for parameter in given if parameter["required"]]
        assert path == endpoint.path
        assert required == [*filter(None, [endpoint.token]), *endpoint.required]
        assert set(endpoint.optional) <= {parameter["name"] for parameter in given}
        assert told["x-main-codes"] == list(endpoint.codes)
        assert told["x-write"] == endpoint.write
        assert told["tags"] == [f"Interface {endpoint.interface}"]
    assert SPOKEN in DOCUMENT["info"]["description"].replace("\n", " ")
    posts = [told["x-endpoint"] for _, method, told in operations() if method == "post"]
    assert posts == ["B1", "B3"]


def test_the_code_tables_hold_every_code():
    """Each code stands in its table as in ours; that 401 means two things is said."""
    for interface, name in {"A": "ResultCodeA", "B": "ResultCodeB", "": "ResultCodeSeen"}.items():
        table = DOCUMENT["components"]["schemas"][name]
        assert table["oneOf"] == [
            {
                "const": code.ret,
                "title": code.meaning,
                "description": f"{code.cause} (assumed)",
                "x-sure": code.sure,
                "x-retry": code.retry,
            }
            for code in codes()
            if code.interface == interface
        ]
        assert ("401" in table["description"]) == bool(interface)


def test_every_example_is_true():
    """Each example in the document is valid for the schema that it illustrates."""
    seen = 0
    for place, value in everything():
        if isinstance(value.get("examples"), list) and "/examples/" not in place:
            for example in value["examples"]:
                assert valid(value, example), example
                seen += 1
    assert seen > 50


def test_the_examples_of_digest_and_token_are_the_right_ones():
    """Whoever writes a client can check its signatures against the examples."""
    given = [find(one) for _, _, told in operations() for one in told.get("parameters", ())]
    found = {one["name"]: one["schema"].get("examples") for one in given if "schema" in one}
    usual = Dialect()
    assert found["digest"] == [str(signing.digest("demo_access", "demo_secret", usual))]
    token = [str(signing.access_token("abc", "def", "demo_secret", usual))]
    assert found["access_token"] == found["accessToken"] == token


def test_the_command_prints_it(capsys):
    """`confkit interface --openapi` prints the description as JSON; with a part it is refused."""
    assert main(["interface", "--openapi"]) == 0
    assert json.loads(capsys.readouterr().out) == DOCUMENT
    assert main(["interface", "A2", "--openapi"]) == 1
    assert "Leave out the part" in capsys.readouterr().err
