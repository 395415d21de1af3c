"""The names that the guides give exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import confkit as ck
from confkit import panels
from confkit.sandbox import Sandbox
from tests.secrets.names import commands

ROOT = Path(__file__).parents[1]
TABLE = re.compile(r"(?ms)^## What there is$(.*?)^\| command \|")
GUIDES = ("README.md", "notebooks/README.md", "CONTRIBUTING.md", "SECURITY.md")
HOMES = (ck, panels, ck.Call, Sandbox)


def test_each_name_in_the_table_of_functions_exists():
    """Those of functions, and those of methods of a call and of the sandbox."""
    table = TABLE.search((ROOT / "notebooks" / "README.md").read_text("utf-8"))[1]
    names = re.findall(r"`([a-z_]+)(?:\([^`]*\))?`", table)
    assert len(names) > 40
    assert not [name for name in names if not any(hasattr(home, name) for home in HOMES)]


@pytest.mark.parametrize("path", [*GUIDES, "CHANGELOG.md"])
def test_what_a_guide_takes_from_confkit_is_there(path):
    """As `ck.name` and as `from confkit... import name`."""
    text = (ROOT / path).read_text("utf-8")
    assert not [name for name in re.findall(r"\bck\.([A-Za-z_]+)", text) if not hasattr(ck, name)]
    for module, names in re.findall(r"(?m)^ *from (confkit[\w.]*) import ([\w, ]+)", text):
        there = import_module(module)
        assert not [name for name in names.split(", ") if not hasattr(there, name)]


def test_the_readme_is_short():
    """Whoever opens the project reads all of it: 140 lines at most."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 140


@pytest.mark.parametrize("path", GUIDES)
def test_each_link_leads_somewhere(path):
    """A file that a guide links to is there, and so is the heading in it."""
    here = ROOT / path
    for link in re.findall(r"\]\((?!http)([^)\s]+)\)", here.read_text("utf-8")):
        name, _, heading = link.partition("#")
        target = here.parent / name if name else here
        assert target.exists(), link
        headings = re.findall(r"(?m)^#+ (.*)$", target.read_text("utf-8")) if heading else []
        assert not heading or heading in [text.lower().replace(" ", "-") for text in headings], link


def test_each_command_that_a_guide_names_exists():
    """`confkit NAME`, as the guides write it."""
    known = {words.split()[0] for words in commands()}
    for path in GUIDES:
        text = (ROOT / path).read_text("utf-8")
        named = set(re.findall(r"`confkit ([a-z]+)", text))
        assert named <= known, path


def test_what_visitors_see_tested_is_what_has_to_pass():
    """The workflow runs the command that README names and .ci/run runs, and nothing else, on each
    Python that pyproject.toml and README name; Binder takes one of these."""
    paths = (".github/workflows/tests.yml", "README.md", ".ci/run", "pyproject.toml")
    workflow, readme, ci, project = ((ROOT / path).read_text("utf-8") for path in paths)
    [command] = re.findall(r"run: (.*)", workflow)
    assert command in readme.splitlines()
    assert command in ci.splitlines()
    versions = re.findall(r'"(3\.\d+)"', workflow)
    assert versions == re.findall(r"Python :: (3\.\d+)", project)
    assert versions == re.findall(r"3\.\d+", readme)[:3]
    binder = (ROOT / "binder" / "runtime.txt").read_text("utf-8")
    assert binder.strip().removeprefix("python-") in versions
