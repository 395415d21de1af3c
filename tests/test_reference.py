"""The packaged reference, the OpenAPI description and the guides say what there is."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

import confkit as ck
from confkit import panels
from confkit.cli.services import packaged, reference
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox

PARTS = [*(("## ", str(number)) for number in range(1, 10)), *(("### ", key) for key in OPERATIONS)]


@pytest.mark.parametrize(("level", "name"), PARTS)
def test_a_section_or_an_operation_is_found_by_its_number(level, name):
    part = reference(name)
    assert part.startswith(f"{level}{name}. ")
    assert part in reference()
    assert not re.search(rf"\n(## |{level})", part)
    if operation := OPERATIONS.get(name):
        names = (*operation.required, *operation.optional, operation.token or "digest")
        for word in (operation.path, *names, *map(str, operation.codes[1:])):
            assert re.search(rf"(?<!\w){re.escape(word)}\b", part), word


DOCUMENT = json.loads(packaged("openapi.json"))


def operations(method):
    """Each operation of this HTTP method: its path, and its description."""
    return ((path, item[method]) for path, item in DOCUMENT["paths"].items() if method in item)


def resolved(parameter):
    """The parameter, or what its $ref points to."""
    name = parameter.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["parameters"][name] if name else parameter


def test_openapi_describes_the_operations_as_our_table_does():
    """B1 and B3 also as POST."""
    assert [operation["x-endpoint"] for _, operation in operations("get")] == list(OPERATIONS)
    assert [operation["x-endpoint"] for _, operation in operations("post")] == ["B1", "B3"]
    for path, operation in operations("get"):
        endpoint = OPERATIONS[operation["x-endpoint"]]
        parameters = [resolved(parameter) for parameter in operation["parameters"]]
        required = [parameter["name"] for parameter in parameters if parameter["required"]]
        assert path == endpoint.path
        assert required == [*filter(None, [endpoint.token]), *endpoint.required]
        assert set(endpoint.optional) <= {parameter["name"] for parameter in parameters}
        assert operation["x-main-codes"] == list(endpoint.codes)
        assert operation["x-write"] == endpoint.write


ROOT = Path(__file__).parents[1]
TABLE = re.compile(r"(?ms)^## What there is$(.*?)^\| command \|")
GUIDES = ("README.md", "notebooks/README.md", "CONTRIBUTING.md", "SECURITY.md")
HOMES = (ck, panels, ck.Call, Sandbox)


def test_each_name_in_the_table_of_functions_exists():
    table = TABLE.search((ROOT / "notebooks" / "README.md").read_text("utf-8"))[1]
    names = re.findall(r"`([a-z_]+)(?:\([^`]*\))?`", table)
    assert len(names) > 40
    assert not [name for name in names if not any(hasattr(home, name) for home in HOMES)]


@pytest.mark.parametrize("path", [*GUIDES, "CHANGELOG.md"])
def test_what_a_guide_takes_from_confkit_is_there(path):
    text = (ROOT / path).read_text("utf-8")
    assert not [name for name in re.findall(r"\bck\.([A-Za-z_]+)", text) if not hasattr(ck, name)]
    for module, names in re.findall(r"(?m)^ *from (confkit[\w.]*) import ([\w, ]+)", text):
        there = import_module(module)
        assert not [name for name in names.split(", ") if not hasattr(there, name)]


@pytest.mark.parametrize("path", GUIDES)
def test_each_link_leads_somewhere(path):
    here = ROOT / path
    for name in re.findall(r"\]\((?!http)([^)#\s]+)", here.read_text("utf-8")):
        assert (here.parent / name).exists(), name
