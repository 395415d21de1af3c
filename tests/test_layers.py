"""The house: imports point down only, and importing confkit loads nothing heavy."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import confkit as ck

PACKAGE = Path(__file__).resolve().parent.parent / "confkit"

# From the ground up; a module may import from its own layer and from those below it.
LAYERS = [
    {"text"},
    {"secret"},
    {"errors"},
    {"records", "endpoints", "rtsp", "checklist"},
    {"dialect", "profiles"},
    {"signing", "wire"},
    {"transport", "calls"},
    {"attempt"},
    {"client"},
    {"rooms", "frames"},
    {"devices"},
    {"deployment"},
    {"many"},
    {"diagnosis"},
    {"bulk"},
    {"occupancy"},
    {"charts"},
    {"sandbox"},
    {"connect"},
    {"panels"},
    {"course"},
    {"runbook"},
    {"cli"},
    {"__main__"},
    {"__init__"},
]
FLOOR = {module: floor for floor, layer in enumerate(LAYERS) for module in layer}

# The one place outside connect, cli and tests that may know the sandbox's name: types, not imports.
RTSP_MAY_KNOW = {"rtsp", "secret", "text", "checklist"}
# The flat files that put the parts together; the others are the core.
ABOVE_THE_PARTS = {"__init__", "__main__", "connect", "cli"}
SANDBOX_MAY_KNOW = {
    "sandbox",
    "records",
    "errors",
    "secret",
    "text",
    "endpoints",
    "dialect",
    "signing",
    "wire",
    "rtsp",
}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """The module, or the sub-package, in which a file lives."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path, loaded: bool = False) -> set[tuple[str, bool]]:
    """What a file imports of ours, and whether only for type checking; `loaded`: only what it
    imports as it is loaded itself, and not inside a function."""
    tree = ast.parse(path.read_text("utf-8"))
    later = {
        id(inner)
        for node in ast.walk(tree)
        if loaded and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    package = ["confkit", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(tree):
        if id(node) in later:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *filter(None, [node.module])])
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "confkit":
                target = parts[1] if len(parts) > 1 else "__init__"
                known = target if target in FLOOR else "__init__"
                found.add((known, id(node) in typing_only))
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    """No module imports from a layer above its own."""
    here = room(path)
    assert here in FLOOR, f"{here} stands on no layer; give it one in this test"
    for target, typing_only in imports(path):
        if here in ("cli", "__main__") and target == "__init__":
            continue  # the version
        if (here, target) in (("devices", "diagnosis"), ("client", "many")):
            continue  # what a preflight takes, and send_many, inside the function
        if typing_only or (here, target) == ("sandbox", "client"):
            continue  # `Sandbox` builds clients, see below
        assert FLOOR[target] <= FLOOR[here], f"{here} imports {target}, which stands above it"


def test_the_core_loads_no_extra():
    """A flat file imports no folder as it is loaded: the small package stands by itself."""
    extras = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    found = {
        path.stem: loaded
        for path in modules()
        if path.parent == PACKAGE and path.stem not in ABOVE_THE_PARTS
        if (loaded := {one for one, typing in imports(path, loaded=True) if not typing} & extras)
    }
    assert found == {}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rtsp_and_sandbox_know_only_what_they_need(path):
    """rtsp knows nothing of rooms; in the sandbox only `Sandbox` builds a Client; only connect, cli
    and the course (whose checker starts it in three dialects) import the sandbox."""
    here = room(path)
    real = {target for target, typing_only in imports(path) if not typing_only}
    if here == "rtsp":
        assert real <= RTSP_MAY_KNOW
    elif here == "sandbox":
        assert real - {"client"} <= SANDBOX_MAY_KNOW
        assert "client" not in real or path.name == "sandbox.py"
    elif here not in ("connect", "cli", "course"):
        assert "sandbox" not in real


def test_every_public_name_is_there_and_none_is_hidden_by_a_module():
    """Each name of __all__ is there, also after every module was imported, and is not a module."""
    for path in modules():
        if path.stem != "__main__" and path.parent == PACKAGE:
            importlib.import_module(f"confkit.{path.stem}".removesuffix(".__init__"))
    taken = {path.stem for path in PACKAGE.iterdir()} - {"connect"}  # imported at once
    assert not set(ck.__all__) & taken
    assert set(ck.__all__) < set(dir(ck))
    for name in ck.__all__:
        assert not isinstance(getattr(ck, name), type(ck)), name
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = ck.nothing_of_ours


def test_the_stub_says_what_editors_and_programs_find():
    """A type checker sees the names that a program gets, and both find each of them."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    [listed] = [node.value for node in stub.body if isinstance(node, ast.Assign)]
    assert sorted(ast.literal_eval(listed)) == ck.__all__
    found = {}
    exec("from confkit import *", found)
    assert set(ck.__all__) < set(found)


def test_importing_confkit_loads_nothing_heavy():
    """`import confkit` loads neither pandas, matplotlib, ipywidgets, PyAV nor the server."""
    code = "import confkit, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "pandas",
        "numpy",
        "matplotlib",
        "ipywidgets",
        "IPython",
        "av",
        "starlette",
        "uvicorn",
        "platformdirs",
        "confkit.sandbox",
        "confkit.rtsp",
    }
    assert heavy & set(loaded) == set()
