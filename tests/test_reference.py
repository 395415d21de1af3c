"""The packaged reference: all of it, or one part."""

import re

import pytest

from confkit.cli.services import reference
from confkit.operations import OPERATIONS

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
