"""The names that the guides give exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import confkit as ck
from confkit import panels
from confkit.sandbox import Sandbox

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
