"""The source itself: secrets are compared in constant time."""

import ast
import re

from tests.test_layers import PACKAGE, modules

SECRET = re.compile(r"(^|_)(secret|secret_key|token|digest|password|passwd|signature|nonce|mac)$")


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
    assert compared == set()
