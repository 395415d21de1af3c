"""The house: imports point down only, and importing confkit loads nothing heavy."""

import ast
import importlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import confkit as ck

PACKAGE = Path(__file__).resolve().parent.parent / "confkit"

# From the ground up; a module may import from its own layer and from those below it.
LAYERS = [
    {"text"},
    {"secret"},
    {"errors"},
    {"operations"},
    {"records", "rtsp", "checks"},
    {"dialect"},
    {"wire"},
    {"calls"},
    {"fast"},
    {"client"},
    {"connect", "rooms", "frames", "tables"},
    {"devices"},
    {"sweep"},
    {"deployment"},
    {"diagnosis"},
    {"bulk"},
    {"occupancy"},
    {"charts"},
    {"sandbox"},
    {"panels"},
    {"course"},
    {"runbook"},
    {"cli"},
    {"__main__"},
    {"__init__"},
]
FLOOR = {module: floor for floor, layer in enumerate(LAYERS) for module in layer}
# What points up all the same: the version; inside a function, what a preflight takes and
# `connect("sandbox")`; and `Sandbox`, which builds clients.
ALLOWED = {
    *(("cli", "__init__"), ("__main__", "__init__")),
    *(("devices", "diagnosis"), ("connect", "sandbox"), ("sandbox", "client")),
}
RTSP_MAY_KNOW = {"rtsp", "secret", "text", "checks"}
SANDBOX_MAY_KNOW = {
    *RTSP_MAY_KNOW,
    *("sandbox", "records", "errors", "operations", "dialect", "wire"),
}
# The flat files that put the parts together; the others are the core.
ABOVE_THE_PARTS = {"__init__", "__main__", "connect", "cli"}
HEAVY = {
    *("pandas", "numpy", "matplotlib", "ipywidgets", "IPython", "av", "starlette", "uvicorn"),
    *("platformdirs", "confkit.sandbox", "confkit.rtsp"),
}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """The module, or the sub-package, in which a file lives."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path, loaded: bool = False) -> set[tuple[str, bool]]:
    """What a file imports of ours, and whether only for type checking; `loaded`: only what it
    imports as it is loaded itself, and not inside a function."""
    package = ["confkit", *path.relative_to(PACKAGE).parts[:-1]]

    def found(node, typing=False):
        if loaded and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            typing = True
        if isinstance(node, ast.Import | ast.ImportFrom):
            up = getattr(node, "level", 0)
            stem = [*package[: len(package) - up + 1 if up else 0]]
            stem += (getattr(node, "module", None) or "").split(".")
            for alias in node.names:
                parts = [*filter(None, stem), *alias.name.split("."), "__init__"]
                if parts[0] == "confkit":
                    yield parts[1] if parts[1] in FLOOR else "__init__", typing
        for child in ast.iter_child_nodes(node):
            yield from found(child, typing)

    return {*found(ast.parse(path.read_text("utf-8")))}


def test_imports_point_down():
    """No module imports from a layer above its own."""
    for path in modules():
        here = room(path)
        for target, typing_only in imports(path):
            if typing_only or (here, target) in ALLOWED:
                continue
            assert FLOOR[target] <= FLOOR[here], f"{path} imports {target}, which stands above it"


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


def test_rtsp_and_sandbox_know_only_what_they_need():
    """rtsp knows nothing of rooms; in the sandbox only `Sandbox` builds a Client; only connect, cli
    and the course (which names the mistakes in a token) import the sandbox."""
    for path in modules():
        here = room(path)
        real = {target for target, typing_only in imports(path) if not typing_only}
        if here == "rtsp":
            assert real <= RTSP_MAY_KNOW
        elif here == "sandbox":
            assert real - {"client"} <= SANDBOX_MAY_KNOW
            assert "client" not in real or path.name == "sandbox.py"
        else:
            assert "sandbox" not in real or here in ("connect", "cli", "course"), path


def test_every_public_name_is_there_and_none_is_hidden_by_a_module():
    """Each name of __all__ is there, also after every module was imported, and is not a module."""
    for path in modules():
        if path.stem != "__main__" and path.parent == PACKAGE:
            importlib.import_module(f"confkit.{path.stem}".removesuffix(".__init__"))
    taken = {path.stem for path in PACKAGE.iterdir()} - {"connect", "sweep"}  # imported at once
    assert not set(ck.__all__) & taken
    assert set(ck.__all__) < set(dir(ck))
    for name in ck.__all__:
        assert not isinstance(getattr(ck, name), type(ck)), name
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = ck.nothing_of_ours


def test_names_of_extras_are_those_that_type_checkers_see():
    """The table of what loads later holds the names that are imported for type checkers, and a star
    import brings every public name."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    [typing] = [node for node in tree.body if isinstance(node, ast.If)]
    assert {f".{node.module}": {alias.name for alias in node.names} for node in typing.body} == {
        module: set(names.split()) for module, names in ck._EXTRAS.items()
    }
    found = {}
    exec("from confkit import *", found)
    assert set(ck.__all__) < set(found)


def test_a_zip_can_be_imported(tmp_path):
    """`import confkit` works from a zip of the package."""
    with zipfile.ZipFile(tmp_path / "confkit.zip", "w") as archive:
        for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.toml")]:
            archive.write(path, path.relative_to(PACKAGE.parent))
    code = "import confkit as ck; print(ck.__file__, ck.explain(404).meaning, ck.sweep)"
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "confkit.zip")}
    out = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=env, cwd=tmp_path
    )
    assert re.search("confkit.zip.* room not found .*sweep", out.stdout), out.stderr


def test_importing_confkit_loads_nothing_heavy():
    """`import confkit` loads neither pandas, matplotlib, ipywidgets, PyAV nor the server."""
    code = "import confkit, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert HEAVY & set(loaded) == set()
