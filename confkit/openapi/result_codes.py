"""The result codes as described enumerations, and the answers that carry them (section 7)."""

from ..codes import CODES, Code
from .values import Schema, said

_TWICE = "Code 401 means *authentication failed* in interface A and *wrong parameters* in B."
_OPEN = "The list is open: other codes come too."

NUMBER: Schema = {
    "description": "A whole number. Numbers may arrive quoted anywhere (seen).",
    "oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]{1,19}$"}],
    "examples": [25, "25"],
    "x-sure": "seen",
}
SUCCESS: Schema = {
    "description": "The result code of success.",
    "oneOf": [
        {"const": 0, "title": "success", "x-sure": "specified"},
        {"const": "0", "title": "success, quoted", "x-sure": "seen"},
    ],
    "examples": [0, "0"],
    "x-sure": "specified",
}


def tables() -> dict[str, Schema]:
    """The codes of A, of B, and those seen in other deployments, each a list of constants."""
    return {
        "ResultCodeA": _table(
            [code for code in CODES if code.interface == "A"],
            f"The codes of interface A. {_TWICE} {_OPEN}",
        ),
        "ResultCodeB": _table(
            [code for code in CODES if code.interface == "B"],
            f"The codes of interface B. {_TWICE} 424 is listed for B1 and B2 and explained "
            f"nowhere. 602, of A's table, comes from B too. {_OPEN}",
        ),
        "ResultCodeSeen": _table(
            [code for code in CODES if not code.interface],
            "Codes seen in other deployments; where A's or B's table holds the code, that wins.",
        ),
    }


def _table(codes: list[Code], description: str) -> Schema:
    return {"description": description, "oneOf": [_constant(code) for code in codes]}


def _constant(code: Code) -> Schema:
    return {
        "const": code.ret,
        "title": code.meaning,
        "description": f"{code.cause} (assumed)",
        "x-sure": code.sure,
        "x-retry": code.retry,
    }


def error(interface: str) -> Schema:
    """The answer of a call that was refused or failed: a code other than 0, and perhaps a text."""
    code: Schema = {
        "description": "The result code: known, or one of the deployment's own.",
        "anyOf": [
            {"$ref": f"#/components/schemas/ResultCode{interface}"},
            {"$ref": "#/components/schemas/ResultCodeSeen"},
            {"$ref": "#/components/schemas/Number"},
        ],
        "not": {"$ref": "#/components/schemas/Success"},
        "x-sure": "specified",
    }
    words = "What went wrong, for people. The interface shows no field but the code."
    text = "msg" if interface == "A" else "err"
    return {
        "type": "object",
        "description": f"Interface {interface} refused the call, or failed.",
        **coded(interface, code),
        "properties": {
            **coded(interface, code)["properties"],
            text: said({"type": "string"}, words, "seen"),
        },
        "examples": [{"ret": 401, text: meaning_of(401, interface)}],
        "x-sure": "specified",
    }


def coded(interface: str, code: Schema) -> Schema:
    """That an answer has its result code: `ret`, or `result` in some deployments of B."""
    if interface == "A":
        return {"properties": {"ret": code}, "required": ["ret"]}
    older = {**code, "description": "In place of `ret`, in older deployments.", "x-sure": "seen"}
    return {
        "properties": {"ret": code, "result": older},
        "anyOf": [{"required": ["ret"]}, {"required": ["result"]}],
    }


def meaning_of(ret: int, interface: str) -> str:
    """What the interface's own table says of a code; that of the other where it has none."""
    rows = [code for code in CODES if code.ret == ret]
    return next((row for row in rows if row.interface == interface), rows[0]).meaning
