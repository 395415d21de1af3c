"""No function of the library shows a secret, whatever a service answers."""

import random

import pytest

import confkit as ck
from confkit.endpoints import ENDPOINTS
from tests.secrets import drives, names
from tests.secrets.driving import driven
from tests.secrets.surfaces import everything_of
from tests.secrets.worlds import HOSTILE, world


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


def test_a_refused_login_shows_no_digest(tmp_path):
    """A service that says back the login that it refuses does not get digest or key into a text."""
    with world("good", tmp_path, random.Random(7)) as made:
        made.script[ENDPOINTS["A1"].path] = HOSTILE["code"](made.marks)
        assert driven(made, {"Client.token": drives.DRIVES["Client.token"]}) == {}
        assert made.heard() == 1


def test_the_password_of_an_address_is_hidden_where_it_is_quoted_alone(script):
    """What stood in rtsp://user:password@host is known, and hidden without its address, too."""
    service = script({ENDPOINTS["B1"].path: {"ret": 426, "err": "login with 1NSIDE refused"}})
    with pytest.raises(ck.JoinFailed, match=r"login with \*\*\* refused") as raised:
        ck.import_device(service.client(), "1", "cam", "Door", "rtsp://u:1NSIDE@192.0.2.7/x")
    assert "1NSIDE" not in everything_of(raised.value)


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
