"""Hostile texts in everything that a notebook or a terminal shows."""

import ast
import logging
import re
import sys
from contextlib import suppress

import pytest

import confkit as ck
from confkit import cli, profiles
from confkit.checklist import Check, Checklist
from confkit.cli.options import OneLine
from confkit.text import as_json, say
from tests.rtsp.fakes import instead, of_script
from tests.scripted import GET_ROOM, Reply
from tests.test_layers import PACKAGE

from . import surfaces, texts
from .looking import alive, controls, told
from .service import hostile, script
from .texts import FORGED


def dead(*things):
    """Whether nothing that is shown of these things acts."""
    return [one for one in surfaces.of(*things) if one.wrong] == []


SOME = [one for one in (*texts.MARKUP[:4], texts.CONTROLS[0], *texts.CONTROLS[7:10]) if one]


def test_markup_and_controls_in_each_object_are_shown_as_text():
    """Reports, checks, lists, explanations: each text of the collection is dead, and is there."""
    for text in (*texts.ALL, *texts.HALVES):
        for output in surfaces.of_objects([text, text]):
            assert output.wrong == [], (output.where, text)
    for text in texts.MARKUP:
        assert text in told(Check("x", "FAIL", text)._repr_html_())


def test_panels_and_frames_of_a_hostile_service_hold_no_markup():
    """Each panel and each frame, of rooms, people and devices that are called so."""
    ids = [one for one in texts.ALL if texts.sendable(one)][::4]
    with hostile(ids) as (client, _):
        for output in (*surfaces.of_frames(client, ids), *surfaces.of_panels(client, ids)):
            assert output.wrong == [], output.where


def test_a_text_with_half_a_letter_is_shown(script):
    """A lone surrogate in a topic and a name breaks no frame, no panel's text and no export."""
    room = {"ret": 0, "room_id": "1", "topic": texts.HALVES[0], "owner_id": texts.HALVES[1]}
    users = {"ret": 0, "user_list": [{"user_name": texts.HALVES[2], "user_id": "u"}]}
    service = script({"/rtc/room/get": room, "/rtc/room/get_room_info": users})
    with service.client() as client:
        for output in surfaces.of_rooms(client, ["1"]):
            assert output.wrong == [], output.where
            output.text.encode()


def test_only_views_take_html_in_the_browser():
    """In our widgets' half in the browser one file alone writes HTML: what Python escaped."""
    found = [
        path.name
        for path in sorted((PACKAGE / "panels" / "parts").glob("*.js"))
        if re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|DOMParser",
            path.read_text("utf-8"),
        )
    ]
    assert found == ["view.js"]


def test_a_text_cannot_begin_a_line_of_a_checklist():
    """A topic with a line end in it is reported on its check's own line."""
    made = Checklist([Check("room", "FAIL", f"its topic is x\n{FORGED}", f"a\r\n{FORGED}")])
    assert len(str(made).splitlines()) == 3
    assert controls(str(made)) == []


def test_json_keeps_every_value_and_is_printable():
    """What is no letter stands as its code, and reads back as what it was."""
    import json

    for text in (*texts.ALL, *texts.HALVES):
        for options in ({}, {"indent": 1}):
            written = as_json({"text": text}, **options)
            assert controls(written) == []
            assert json.loads(written) == {"text": text}


@pytest.mark.parametrize(
    "arguments",
    [
        ("doctor",),
        ("doctor", "--json"),
        ("diagnose",),
        ("diagnose", "--address", "sip://x"),
        ("preflight",),
        ("interface",),
        ("runbook",),
        ("course", "check", "--"),
        ("token", "--profile"),
        ("profile", "remove"),
        ("profile", "add"),
        ("record", "--rooms"),
        ("nonsense",),
    ],
)
def test_commands_print_no_control_characters(arguments, capfd, monkeypatch, tmp_path):
    """Whatever a room, a service or an argument is called, a terminal gets letters."""
    monkeypatch.chdir(tmp_path)
    with hostile(SOME) as (_, service):
        for name, value in {
            "BASE_URL": service.base_url,
            "OUTGOING_URL": service.base_url,
            "ACCESS_KEY": "k",
            "SECRET_KEY": "s3cr3t-of-ours",
        }.items():
            monkeypatch.setenv(f"CONFKIT_{name}", value)
        for text in SOME[-5:]:
            more = ("--timeout", "3") if arguments[0] == "doctor" else ()
            if arguments[:2] == ("diagnose", "--address"):
                given = ("diagnose", text, text, *arguments[1:])
            else:
                given = (*arguments, text.lstrip("-"), *more)
            with suppress(SystemExit):
                cli.main(list(given))
            out, err = capfd.readouterr()
            assert out + err
            assert controls(re.sub(r"\x20{8}[\w ]+ \.\.\.\r", "", out)) == []
            assert controls(err) == []


def test_a_topic_with_dollars_is_no_formula_in_a_notebook():
    """HTML with dollars or backslashes is marked for MathJax to leave alone; other HTML is not."""
    for text in ("$x$", "\\(x\\)", "\\[x\\]", "\\begin{x}"):
        for made in (Check("x", "FAIL", text), Checklist([Check("x", "FAIL", text)])):
            assert made._repr_html_().startswith("<div class='tex2jax_ignore mathjax_ignore'>")
    assert "mathjax" not in Check("x", "FAIL", "plain")._repr_html_()


def test_what_is_said_is_printable(capsys):
    """The one place that prints lets no control character through, to neither stream; what an error
    says has lines of ours and letters only, and what it was made of stays."""
    say("a\x1b[2J\x9b\tb\n c")
    say("d\x07\ud800", aside=True)
    assert capsys.readouterr() == ("a [2J \tb\n c\n", "d  \n")
    error = ck.ConfigError("a\x1b[2Jb\n  c\x9b")
    assert str(error) == "a [2Jb\n  c "
    assert error.args == ("a\x1b[2Jb\n  c\x9b",)


def test_a_log_line_is_one_line():
    """The commands' log writes a record on one line, whatever is in it, and its traceback below."""
    formatter = OneLine("%(message)s")
    record = logging.LogRecord("x", 20, "", 1, "room %s", (f"a\n{FORGED}\x1b[2J",), None)
    assert formatter.format(record) == f"room a {FORGED} [2J"
    try:
        raise ck.ConfigError("a\x1bb")
    except ck.ConfigError:
        record.exc_info = sys.exc_info()
    lines = formatter.format(record).splitlines()
    assert len(lines) > 2
    assert controls("\n".join(lines)) == []


def test_no_log_line_of_ours_is_begun_by_others(caplog):
    """What confkit logs of a hostile service, at DEBUG, holds no control character."""
    caplog.set_level(logging.DEBUG)
    ids = [one for one in texts.CONTROLS if texts.sendable(one)]
    with hostile(ids) as (client, _):
        list(surfaces.of_frames(client, ids))
    told = [one.getMessage() for one in caplog.records if one.name.startswith("confkit")]
    assert len(told) > 20
    assert [controls(one) for one in told if controls(one) or "\n" in one] == []


def test_only_one_module_writes_to_the_terminal():
    """No other calls print or writes to sys.stdout or sys.stderr."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called == "print" or re.match(r"sys\.(__)?std(out|err).*\.write", called):
                found.add(path.relative_to(PACKAGE).as_posix())
    # The second writes UTF-8 whatever the terminal's encoding, printable as well.
    assert found == {"text.py", "cli/course.py"}


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred",
        "\x9b2J",
        "<script>pwned</script>",
        "\u202emoor",
        "x" * 5000,
    ],
)
def test_what_a_camera_says_is_shown_as_text(text):
    """Reason phrase, Server, session name, media and realm of a camera stay texts."""
    raw = text.encode("utf-8", "surrogateescape")

    def answered(status, **headers):
        return instead("DESCRIBE", status, **headers)

    described = (
        b"v=0\r\ns=" + raw + b"\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 " + raw + b"/90000\r\n"
    )
    for answer in (
        answered(500, Server=text),
        answered(401, WWW_Authenticate=f'Digest realm="{text}"'),
        answered(302, Location=text),
        instead("DESCRIBE", body=described),
        lambda request: f"RTSP/1.0 404 {text}\r\nCSeq: {request.get('CSeq')}\r\n\r\n".encode(),
    ):
        report = of_script(answer, "admin", "secret", timeout=3)
        assert not report.ok
        assert dead(report)
        assert len(report.cause) < 500


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x9b2J", "<script>pwned</script>", "x" * 300])
def test_what_an_http_server_says_is_shown_as_text(script, text):
    """A reason phrase, a header and a page of something else at the service's port."""
    raw = text.encode("latin-1")

    def answered(wire):
        head = b"HTTP/1.1 500 %b\r\nServer: %b\r\nContent-Type: text/html; %b\r\n" % (raw, raw, raw)
        wire.sendall(head + b"Content-Length: %d\r\n\r\n" % len(raw) + raw)

    service = script({GET_ROOM: Reply(raw=answered)})
    with service.client() as client:
        with pytest.raises(ck.ConfkitError) as caught:
            ck.get_room(client, "1")
        calls = client.calls
        assert dead(str(caught.value), repr(calls[-1]), ck.calls_frame(calls))


@pytest.mark.parametrize("text", ["rtsp://\x1b[2J", f"x\n{FORGED}", "<script>", "rtsp://a:b@\x9b/"])
def test_an_address_that_is_none_is_shown_as_text(text):
    """What was typed in place of an address stands in the report, without its controls."""
    report = ck.preflight(text)
    assert report.verdict == "url_malformed"
    assert dead(report)


def test_a_profile_is_called_by_letters_only():
    """A name that a terminal or a path would obey is refused."""
    for text in (*texts.CONTROLS, *texts.PLACES[:8], "a\nb", "[prod]", "x'y"):
        if text == ".." or text == ".":
            continue
        with pytest.raises(ck.ConfigError):
            profiles.save(text, {})


def test_the_hostile_service_is_hostile():
    """The service of these tests says what it is given (a test of the tests)."""
    answers = script(["<pwned>", "=1"])
    assert answers["/rtc/room/get"]({"room_id": "<pwned>"})["topic"] == "=1"
    assert alive("<p onclick=x>") == ["<p onclick=>"]
    assert alive("<script>") == ["<script>"]
    assert controls(f"a\x9b\n{FORGED}") == ["'\\x9b'", FORGED]
