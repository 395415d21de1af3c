"""Hostile texts in everything that a notebook or a terminal shows."""

import json
import logging
import re
import sys

import pytest

import confkit as ck
from confkit.checks import Check, Checklist
from confkit.cli.options import OneLine
from confkit.connect import save_profile
from confkit.rtsp.report import Notice, Report, Stage
from confkit.text import as_json
from tests.commands import run
from tests.rtsp.scripted import instead, report_of
from tests.secrets.drives import CONFKIT, PANELS
from tests.secrets.surfaces import of
from tests.test_layers import PACKAGE

from . import texts
from .looking import controls, told, wrong
from .service import acting, hostile
from .texts import FORGED


def dead(*things):
    """Whether nothing that is shown of these things acts."""
    return not any(wrong(text, read) for thing in things for read, text in of(thing))


SOME = [one for one in (*texts.MARKUP[:4], texts.CONTROLS[0], *texts.CONTROLS[7:10]) if one]


def test_markup_and_controls_in_each_object_are_shown_as_text():
    """Reports, checks, lists, explanations: each text of the collection is dead, and is there."""
    for text in (*texts.ALL, *texts.HALVES):
        check = Check(text, "FAIL", text, text)
        assert dead(check, Checklist([check]), ck.explain(text)), text
    for text in texts.ALL:  # a camera's bytes have no halves of letters
        told_by = dict.fromkeys(("subject", "cause", "advice", "authentication"), text)
        seen = {"stages": (Stage(text, 0.1, text, "failed", text),)}
        seen["warnings"] = (Notice("x", "note", text),)
        assert dead(Report(ok=False, verdict="not_rtsp", codec="h264", **told_by, **seen)), text
    for text in texts.MARKUP:
        assert text in told(Check("x", "FAIL", text)._repr_html_())


def test_whatever_a_hostile_service_says_is_shown_as_text(tmp_path):
    """All that shows of each public name and panel is dead where rooms, people and devices are
    called so, and no line of the log at DEBUG is begun by one of them."""
    ids = [one for one in texts.ALL if texts.sendable(one)][::12]
    with hostile(ids) as (client, _):
        assert acting(client, ids, tmp_path, CONFKIT | PANELS) == {}


def test_nothing_is_html_in_our_half_of_the_browser():
    """Our widgets write texts; HTML is in ipywidgets' own, and escaped in Python."""
    scripts = {path.name: path.read_text("utf-8") for path in (PACKAGE / "panels").glob("*.js")}
    assert {*scripts} == {"password.js", "status.js", "table.js"}
    dangerous = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|DOMParser"
    assert not [name for name, text in scripts.items() if re.search(dangerous, text)]


def test_json_keeps_every_value_and_is_printable():
    """What is no letter stands as its code, and reads back as what it was."""
    for text in (*texts.ALL, *texts.HALVES):
        written = as_json({"text": text})
        assert controls(written) == []
        assert json.loads(written) == {"text": text}


def test_commands_print_no_control_characters(monkeypatch, tmp_path):
    """Whatever a room, a service or an argument is called, a terminal gets letters."""
    monkeypatch.chdir(tmp_path)
    lines = ["doctor", "diagnose", "preflight", "runbook", "interface"]
    lines += ["token --profile", "profile add", "record --rooms"]
    with hostile(SOME) as (_, service):
        given = {"CONFKIT_BASE_URL": service.base_url, "CONFKIT_OUTGOING_URL": service.base_url}
        given |= {"CONFKIT_ACCESS_KEY": "k", "CONFKIT_SECRET_KEY": "s3cr3t-of-ours"}
        for number, line in enumerate(lines):
            for text in (SOME[number % 4], texts.CONTROLS[number], texts.CONTROLS[7]):
                done = run(*line.split(), text.lstrip("-"), **given)
                assert done.stdout + done.stderr
                assert controls(done.stdout) == controls(done.stderr) == [], line


def test_a_topic_with_dollars_is_no_formula_in_a_notebook():
    """HTML with dollars or backslashes is marked for MathJax to leave alone; other HTML is not."""
    for text in ("$x$", "\\(x\\)", "\\[x\\]", "\\begin{x}"):
        for made in (Check("x", "FAIL", text), Checklist([Check("x", "FAIL", text)])):
            assert made._repr_html_().startswith("<div class='tex2jax_ignore mathjax_ignore'>")
    assert "mathjax" not in Check("x", "FAIL", "plain")._repr_html_()


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


@pytest.mark.parametrize("text", ["\x9b2J", "<script>pwned</script>", "\u202emoor", "x" * 5000])
def test_what_a_camera_says_is_shown_as_text(text):
    """Reason phrase, Server, session name, media and realm of a camera stay texts, as does what was
    typed in place of an address."""
    raw = text.encode()
    described = b"v=0\r\ns=%b\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 %b/90000\r\n" % (raw, raw)
    for answer in (
        instead("DESCRIBE", 500, Server=text),
        instead("DESCRIBE", 401, WWW_Authenticate=f'Digest realm="{text}"'),
        instead("DESCRIBE", 302, Location=text),
        instead("DESCRIBE", body=described),
        lambda request: f"RTSP/1.0 404 {text}\r\nCSeq: {request.get('CSeq')}\r\n\r\n".encode(),
    ):
        report = report_of(answer, "admin", "secret", timeout=3)
        assert not report.ok
        assert dead(report)
        assert len(report.cause) < 500
    report = ck.preflight(f"rtsp://{text}\x1b[2J")
    assert report.verdict == "url_malformed"
    assert dead(report)


def test_a_profile_is_called_by_letters_only():
    """A name that a terminal or a path would obey is refused."""
    for text in (texts.CONTROLS[0], texts.CONTROLS[12], *texts.PLACES[:4], "a\nb", "[prod]", "x'y"):
        with pytest.raises(ck.ConfigError):
            save_profile(text, {})
