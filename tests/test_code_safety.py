"""The source itself: secrets are compared in constant time, and no dependency is known to be weak.

That nothing is unpickled or run as a program, and where chance comes from, ruff's rules S hold.
"""

import ast
import re
import tomllib
from pathlib import Path

from packaging.version import Version

from tests.test_layers import PACKAGE, modules

SECRET = re.compile(r"(^|_)(secret|secret_key|token|digest|password|passwd|signature|nonce|mac)$")
# Comparisons of such names that say nothing of a secret to anybody who does not have it.
MAY_COMPARE = {"sandbox/sandbox.py", "cli/services.py"}  # whether keys are the published ones


def test_secrets_are_compared_in_constant_time():
    """No == on a digest, a token or a password, unless both sides are the caller's own."""
    compared = set()
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Compare) or isinstance(node.ops[0], ast.Is | ast.IsNot):
                continue
            sides = [node.left, *node.comparators]
            words = [ast.unparse(side).rpartition(".")[2] for side in sides]
            constant = any(isinstance(side, ast.Constant) for side in sides)  # a text of ours
            if not constant and any(map(SECRET.search, words)):
                compared.add(path.relative_to(PACKAGE).as_posix())
    assert compared == MAY_COMPARE


FIXED = {"requests": "2.32.4", "urllib3": "2.7", "tqdm": "4.66.3", "jupyterlab": "4.4.8"}
FIXED |= {"voila": "0.5.6", "pyarrow": "14.0.1", "notebook": "7.2.2"}


def test_no_lower_bound_allows_a_known_weakness():
    """pyproject.toml asks at least for the version in which one is fixed."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    asked = " ".join(one for group in groups for one in group)
    for name, fixed in FIXED.items():
        (bound,) = re.findall(rf"(?<!-){name}>=([0-9.]+)", asked)
        assert Version(bound) >= Version(fixed), name


def test_no_test_skips_by_itself():
    """`need` in tests/conftest.py alone skips a test, which fails in CI: nobody reads of skips."""
    here = Path(__file__)
    skips = re.compile(r"\b(pytest\.skip|importorskip|skipTest)\(")
    files = [path for path in here.parent.rglob("*.py") if path != here]
    assert [path.name for path in files if skips.search(path.read_text("utf-8"))] == ["conftest.py"]
