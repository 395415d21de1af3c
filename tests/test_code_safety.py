"""The source itself: secrets are compared in constant time, and no dependency is known to be weak.

That nothing is unpickled or run as a program, and where chance comes from, ruff's rules S hold.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from tests.test_layers import PACKAGE, modules

SECRET = re.compile(r"(^|_)(secret|secret_key|token|digest|password|passwd|signature|nonce|mac)$")
EQUALITY = {ast.Eq, ast.NotEq, ast.In, ast.NotIn}
# Comparisons of such names that say nothing of a secret to anybody who does not have it.
MAY_COMPARE = {
    "sandbox/sandbox.py": "whether the keys are the published ones",
    "cli/services.py": "whether the keys are the published ones",
}


def parsed() -> Iterator[tuple[str, ast.AST]]:
    for path in modules():
        name = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            yield name, node


def test_secrets_are_compared_in_constant_time():
    """No == on a digest, a token or a password, unless both sides are the caller's own."""
    compared = set()
    for name, node in parsed():
        if isinstance(node, ast.Compare) and EQUALITY & {type(op) for op in node.ops}:
            sides = [node.left, *node.comparators]
            words = [ast.unparse(side).rpartition(".")[2] for side in sides]
            constant = any(isinstance(side, ast.Constant) for side in sides)  # a text of ours
            if not constant and any(map(SECRET.search, words)):
                compared.add((name, ast.unparse(node)))
    assert {name for name, _ in compared} == set(MAY_COMPARE), sorted(compared)


def test_what_compares_secrets_does_nothing_else():
    """Those functions end with hmac.compare_digest and hold no other comparison."""
    for file, function in (
        ("sandbox/signatures.py", "same"),
        ("sandbox/cameras/camera.py", "_equal"),
    ):
        tree = ast.parse((PACKAGE / file).read_text("utf-8"))
        (found,) = [one for one in ast.walk(tree) if getattr(one, "name", "") == function]
        assert "hmac.compare_digest(" in ast.unparse(found.body[-1])
        assert not any(isinstance(one, ast.Compare) for one in ast.walk(found))


FIXED = {  # the first version in which a weakness is fixed, of what confkit itself depends on
    "requests": "2.32.4",
    "urllib3": "2.7",
    "tqdm": "4.66.3",
    "jupyterlab": "4.4.8",
    "voila": "0.5.6",
    "pyarrow": "14.0.1",
    "notebook": "7.2.2",
}


def test_no_lower_bound_allows_a_known_weakness():
    """pyproject.toml asks at least for the version in which it is fixed."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    asked = " ".join(one for group in groups for one in group)
    for name, fixed in FIXED.items():
        (bound,) = re.findall(rf"(?<!-){name}>=([0-9.]+)", asked)
        assert Version(bound) >= Version(fixed), name


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
