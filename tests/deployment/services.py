"""Dialects of services, and a service that a test scripts."""

import random
from dataclasses import replace

from confkit.dialect import CHOICES, Dialect
from tests.scripted import A3, A5, B1, B2, B3, VECTOR_TOKEN, listed

OPEN = ("hash", "signature", "create_method", "list_method", "placement")
NAMES = (
    {"token_parameter": "access_tocken"},
    {"mcu_token_parameter": "token"},
    {"token_parameter": "access_tocken", "mcu_token_parameter": "access_token"},
    {"remove_token_parameter": "accessToken"},
)


def dialects(seed, count):
    """Each dialect that differs from the usual one in one setting, and so many drawn at random."""
    chance = random.Random(seed)
    settings = [{name: value} for name in OPEN for value in CHOICES[name]] + list(NAMES)
    for _ in range(count):
        drawn = {name: chance.choice(CHOICES[name]) for name in OPEN}
        settings.append(drawn | chance.choice(NAMES) | chance.choice(NAMES))
    return list(dict.fromkeys(plain(Dialect(**each)) for each in settings))


def plain(dialect):
    """The dialect as it can be known from outside: where nothing is a POST, nothing shows where a
    POST carries its parameters."""
    if dialect.mcu_token_parameter == dialect.token_parameter:
        dialect = replace(dialect, mcu_token_parameter=None)
    methods = dialect.create_method, dialect.list_method
    return dialect if "POST" in methods else replace(dialect, placement="query")


def checked(right, wrong=602, name="access_token", token=VECTOR_TOKEN):
    """What an operation answers: `right` to the right token, `wrong` to others and without one."""

    def answer(query):
        code = right if query.get(name) == token else wrong
        return {"ret": code} if isinstance(code, int) else code

    return answer


USUAL = {
    **dict.fromkeys((A3, A5), checked(404)),
    B1: checked(401, name="accessToken"),
    B2: checked(425),
    B3: checked(listed(), name="accessToken"),
}
