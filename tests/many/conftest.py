"""What tests of many reads share."""

import pytest

from tests.ways import WAYS


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """Each way in which many requests travel: by libcurl, and in threads."""
    found: str = request.param
    return found
