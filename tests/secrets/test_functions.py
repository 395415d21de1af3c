"""No function of the library shows a secret, whatever a service answers."""

import random

import pytest

from tests.secrets import drives, names, surfaces
from tests.secrets.driving import driven
from tests.secrets.worlds import HOSTILE, WORLDS, world


def test_every_public_name_of_confkit_is_on_the_list():
    """A new public function, record, error or method is driven too, and no entry names nothing."""
    assert set(drives.DRIVES) == names.public(names.confkit)


def test_no_function_shows_a_secret_where_all_is_well(tmp_path):
    """Of a service that answers, no function, record or error shows a marked secret: nor the calls
    on record, the log at DEBUG, what is printed and warned of."""
    with world("sandbox", tmp_path, random.Random(7)) as made:
        asked = {**drives.DRIVES, **drives.MISTAKES}
        assert driven(made, asked, drives.DUE) == {}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_function_shows_a_secret_whatever_is_answered(tmp_path, name):
    """However a service says back what it was asked, in its code, page, headers, status or
    redirect, cut off or in other types, nothing that shows of it holds a marked secret."""
    with world(name, tmp_path, random.Random(7)) as made:
        assert driven(made, drives.HOSTILE_DRIVES) == {}


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", WORLDS)
def test_nothing_shows_a_secret_anywhere_in_any_traceback(tmp_path, name):
    """Every drive in every world, each error in all of IPython's modes of a traceback."""
    with world(name, tmp_path, random.Random(7)) as made:
        asked = {**drives.DRIVES, **drives.MISTAKES}
        assert driven(made, asked, drives.DUE, lambda: surfaces.MODES) == {}


def test_the_search_finds_a_secret_however_it_is_written(tmp_path):
    """The tests above can fail: each mark is found plain and encoded, alone and within others."""
    import base64
    import html
    import json
    from urllib.parse import quote

    with world("good", tmp_path, random.Random(7)) as made:
        made.client.token()
        marks = made.all_marks()
        for role, secret in marks.values.items():
            for written in (
                secret,
                repr(secret),
                json.dumps(json.dumps(secret)),
                html.escape(secret),
                quote(quote(secret, safe=""), safe="").lower(),
                secret[::-1],
                secret.upper(),
                secret.encode().hex(),
                *(base64.b64encode(b"x" * n + secret.encode() + b"yz").decode() for n in range(3)),
            ):
                assert any(role in told for told in marks.found(f"before {written} after"))
        token = made.client.token()
        inner = base64.b64decode(token).decode()
        for written in (str(token), quote(token), inner, f"{token.random}:{token.key}"):
            assert marks.found(written)
        assert not marks.found("before after *** token=*** 127.0.0.1")
