"""The source itself: nothing is unpickled or evaluated, secrets are compared in constant time."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_layers import PACKAGE, modules

# What runs a text as a program, or makes objects of bytes. `msgspec.json` and `json` make data.
FORBIDDEN = re.compile(
    r"(pickle|cPickle|dill|cloudpickle|shelve|marshal|joblib)(\.|$)|yaml\.(unsafe_)?load"
    r"|(builtins\.)?(eval|exec|compile|__import__)$|os\.(system|popen|exec\w*|spawn\w*)$"
    r"|read_pickle$|tempfile\.mktemp$|code\.interact$|runpy\."
)
# By file, what is allowed, and why. Dask sends our plain functions to its workers by pickle of its
# own, which is why errors say in __reduce__ how they are made again; confkit calls no pickle.
STARTS = {
    "course/clients/running.py": "the learner's own command, as a list of words",
    "cli/lab.py": "JupyterLab or Voila, as a list of words",
}
SECRET = re.compile(r"(^|_)(secret|secret_key|token|digest|password|passwd|signature|nonce|mac)$")
# Comparisons of such names that say nothing of a secret to anybody who does not have it.
MAY_COMPARE = {
    "sandbox/sandbox.py": "whether the keys are the published ones",
    "cli/services.py": "whether the keys are the published ones",
    "diagnosis/device_address.py": "whether two logins that the caller has are one",
    "panels/token_making.py": "whether the client is the sandbox's own",
    "course/clients/judging.py": "whether what a client wrote holds published values",
    "calls.py": "the name of a parameter",
}


def parsed() -> Iterator[tuple[str, ast.AST]]:
    for path in modules():
        name = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            yield name, node


def test_nothing_is_unpickled_and_no_text_is_run():
    """No pickle, eval, exec, unsafe YAML or shell; what is started is a list of words."""
    found, started = [], set()
    for name, node in parsed():
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            base = getattr(node, "module", None)
            found += [(name, one) for one in (*names, base or "") if FORBIDDEN.match(one)]
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        ours = isinstance(node.func, ast.Name) or called.startswith(("os.", "tempfile.", "yaml."))
        plain = called if ours else ""
        if FORBIDDEN.match(plain) or re.search(r"\.(read_pickle|load_module)$", called):
            found.append((name, called))
        for word in node.keywords:
            if word.arg in ("shell", "allow_pickle") and ast.unparse(word.value) != "False":
                found.append((name, ast.unparse(node)))
        if called.startswith("subprocess."):
            started.add(name)
        if called.endswith((".exec_command", "create_subprocess_shell", ".run_cell")):
            found.append((name, called))
    assert found == []
    assert started == set(STARTS)


def test_secrets_are_compared_in_constant_time():
    """No == on a digest, a token or a password, but where both sides are the caller's own."""
    found = set()
    for name, node in parsed():
        if not isinstance(node, ast.Compare):
            continue
        if not any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops):
            continue
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Constant) for side in sides):  # with a text of ours
            continue
        words = [ast.unparse(side) for side in sides]
        if any(SECRET.search(word.rpartition(".")[2]) for word in words):
            found.add((name, ast.unparse(node)))
    assert {name for name, _ in found} == set(MAY_COMPARE), sorted(found)


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("sandbox/service/identity.py", "same"),
        ("sandbox/cameras/serving.py", "_same"),
    ],
)
def test_what_compares_secrets_does_nothing_else(file, function):
    """Those functions end with hmac.compare_digest and hold no other comparison."""
    tree = ast.parse((PACKAGE / file).read_text("utf-8"))
    (found,) = [one for one in ast.walk(tree) if getattr(one, "name", "") == function]
    assert "hmac.compare_digest(" in ast.unparse(found.body[-1])
    assert not any(isinstance(one, ast.Compare) for one in ast.walk(found))


def test_secrets_come_from_the_systems_source_of_chance():
    """`random` is for waiting times, demonstrations and what a seed repeats, never for a secret."""
    users = {
        name
        for name, node in parsed()
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("random.")
    }
    # Ids and nonces: random.SystemRandom unless seeded. The client: how long it waits.
    assert users == {"sandbox/service/identity.py", "client.py"}


FIXED = {  # the first version in which a weakness is fixed, of what confkit itself depends on
    "requests": "2.32.4",
    "urllib3": "2.7",
    "tqdm": "4.66.3",
    "jupyterlab": "4.4.8",
    "voila": "0.5.6",
    "pyarrow": "14.0.1",
    "notebook": "7.2.2",
}


@pytest.mark.parametrize("name", FIXED)
def test_no_lower_bound_allows_a_known_weakness(name):
    """pyproject.toml asks at least for the version in which it is fixed."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    asked = [one for group in groups for one in group]
    (bound,) = {found[1] for one in asked if (found := re.match(rf"{name}>=([0-9.]+)", one))}
    assert _numbers(bound) >= _numbers(FIXED[name])


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def test_the_security_page_names_what_there_is():
    """SECURITY.md names files that exist, and no address that nobody has."""
    text = (PACKAGE.parent / "SECURITY.md").read_text("utf-8")
    for name in re.findall(r"`(tests/[\w/.]+|CHANGELOG\.md)`", text):
        assert Path(PACKAGE.parent, name).exists(), name
    assert not re.search(r"\S@\S+\.\w", text)
    assert "private vulnerability reporting" in text


def test_no_test_skips_by_itself():
    """`need` in tests/conftest.py alone skips a test, which fails in CI: nobody reads of skips."""
    here = Path(__file__)
    skips = re.compile(r"\b(pytest\.skip|importorskip|skipTest)\(")
    files = [path for path in here.parent.rglob("*.py") if path != here]
    assert [path.name for path in files if skips.search(path.read_text("utf-8"))] == ["conftest.py"]
