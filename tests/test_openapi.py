"""The OpenAPI description, a file that is checked in, says what the tables say."""

import json

from confkit.cli.services import packaged
from confkit.operations import OPERATIONS

DOCUMENT = json.loads(packaged("openapi.json"))


def operations(method):
    """Each operation of this HTTP method: its path, and its description."""
    return ((path, item[method]) for path, item in DOCUMENT["paths"].items() if method in item)


def resolved(parameter):
    """The parameter, or what its $ref points to."""
    name = parameter.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["parameters"][name] if name else parameter


def test_it_describes_the_operations_as_our_table_does():
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
