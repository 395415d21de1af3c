"""The source itself: imports point down, importing confkit loads nothing heavy, and secrets are
compared in constant time."""

import ast
import re
import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import confkit as ck

PACKAGE = Path(__file__).resolve().parent.parent / "confkit"

# From the ground up; a module may import from its own layer and from those below it.
LAYERS = [
    *("text", "secret", "errors", "operations", "records rtsp checks", "dialect", "wire", "calls"),
    *("fast", "client", "connect rooms frames tables", "devices", "sweep"),
    *("deployment", "diagnosis", "bulk", "occupancy", "charts", "sandbox"),
    *("panels", "course", "runbook", "cli", "__main__", "__init__"),
]
FLOOR = {module: floor for floor, layer in enumerate(LAYERS) for module in layer.split()}
# What points up all the same: the version; inside a function, what a preflight takes and
# `connect("sandbox")`; and `Sandbox`, which builds clients.
ALLOWED = {
    *(("cli", "__init__"), ("__main__", "__init__")),
    *(("devices", "diagnosis"), ("connect", "sandbox"), ("sandbox", "client")),
}
RTSP_MAY_KNOW = {"rtsp", "secret", "text", "checks"}
SANDBOX_MAY_KNOW = RTSP_MAY_KNOW | {"sandbox", "records", "errors", "operations", "dialect", "wire"}
HEAVY = {
    *("pandas", "numpy", "matplotlib", "ipywidgets", "IPython", "av", "starlette", "uvicorn"),
    *("platformdirs", "confkit.sandbox", "confkit.rtsp"),
}
SECRET = re.compile(r"(^|_)(secret|secret_key|token|digest|password|passwd|signature|nonce|mac)$")


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """The parts that a file imports, not for type checking alone."""
    package = ".".join(path.relative_to(PACKAGE.parent).parts[:-1])
    parts = set()

    def visit(node):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import | ast.ImportFrom):
            stem = "." * getattr(node, "level", 0) + (getattr(node, "module", None) or "")
            for alias in node.names:
                name = f"{resolve_name(stem, package)}.{alias.name}".strip(".")
                if name.partition(".")[0] == "confkit":
                    part = f"{name}.".split(".")[1]
                    parts.add(part if part in FLOOR else "__init__")
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text("utf-8")))
    return parts


def test_imports_point_down():
    for path in modules():
        here = part_of(path)
        for target in imports(path):
            assert FLOOR[target] <= FLOOR[here] or (here, target) in ALLOWED, (path, target)


def test_rtsp_and_sandbox_know_only_what_they_need():
    """rtsp knows nothing of rooms; in the sandbox only `Sandbox` builds a Client."""
    for path in modules():
        here, targets = part_of(path), imports(path)
        if here == "rtsp":
            assert targets <= RTSP_MAY_KNOW
        elif here == "sandbox":
            own = {"client"} if path.name == "sandbox.py" else set()
            assert targets <= SANDBOX_MAY_KNOW | own, path
        else:
            assert "sandbox" not in targets or here in ("connect", "cli", "course"), path


def test_each_public_name_is_there_and_is_no_module():
    namespace = {}
    exec("from confkit import *", namespace)
    assert set(ck.__all__) < set(namespace) | {"__version__"}
    for name in ck.__all__:
        assert not isinstance(getattr(ck, name), type(ck)), name


def test_importing_confkit_loads_nothing_heavy():
    code = "import confkit, sys; print(*sorted(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert HEAVY & set(loaded) == set()


def test_secrets_are_compared_in_constant_time():
    """No == on a digest, a token or a password, unless both sides are the caller's own."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Compare) or isinstance(node.ops[0], ast.Is | ast.IsNot):
                continue
            sides = [node.left, *node.comparators]
            constant = any(isinstance(side, ast.Constant) for side in sides)  # a text of ours
            words = [ast.unparse(side).rpartition(".")[2] for side in sides]
            assert constant or not any(map(SECRET.search, words)), (path, ast.unparse(node))
