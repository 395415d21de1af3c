"""The contract, its vectors, the command, and the two skeletons that are shipped."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import course
from confkit.course.clients.rows import OPERATIONS, ROWS, SERVICES, settings
from confkit.dialect import CHOICES
from tests.commands import run
from tests.conftest import need

ROOT = Path(__file__).resolve().parents[2]
VECTORS = course.vectors()["vectors"]
LEFT_OUT = ["A4", "A7", "B2"]
# What completes a skeleton, in the place of its three comments.
COMPLETED = {
    "sh": [
        'delete_room) ask A GET /rtc/room/del "$CONFKIT_TOKEN_PARAMETER" "$@" ;;',
        'force_offline) ask A GET /rtc/force_offline_mcu "$CONFKIT_TOKEN_PARAMETER" "$@" ;;',
        'remove_device) ask B GET "$outgoing_path/destroyOutgoingUser" '
        '"$CONFKIT_REMOVE_TOKEN_PARAMETER" "$@" ;;',
    ],
    "java": [
        'case "delete_room": return tidy(ask("A", "GET", "/rtc/room/del", '
        'setting("TOKEN_PARAMETER"), given));',
        'case "force_offline": return tidy(ask("A", "GET", "/rtc/force_offline_mcu", '
        'setting("TOKEN_PARAMETER"), given));',
        'case "remove_device": return tidy(ask("B", "GET", outgoing + "destroyOutgoingUser", '
        'setting("REMOVE_TOKEN_PARAMETER"), camel(given)));',
    ],
}


def whole(language):
    """The skeleton with its three places filled."""
    text, places = course.skeleton(language), iter(COMPLETED[language])
    return re.sub(r"(?://|#) Your turn: .*", lambda _: next(places), text)


def not_right(found):
    return {
        check.check.partition(",")[0]: check.verdict for check in found if check.verdict != "PASS"
    }


@pytest.mark.nightly
def test_the_skeleton_in_shell_lacks_three_rows_and_is_right_once_it_has_them(tmp_path):
    """What the skeleton in shell leaves to the learner is UNKNOWN; completed, it meets the whole
    contract with curl and openssl."""
    need("curl", shutil.which("curl"), "apt-get install curl")
    need("openssl", shutil.which("openssl"), "apt-get install openssl")
    script = tmp_path / "client.sh"
    script.write_text(course.skeleton("sh"), "utf-8")
    found = course.check_client(["sh", str(script)], only=["A1", "A3", "B3", *LEFT_OUT])
    assert not_right(found) == dict.fromkeys(LEFT_OUT, "UNKNOWN")
    script.write_text(whole("sh"), "utf-8")
    assert not_right(course.check_client(["sh", str(script)])) == {}


def compiled(folder, text):
    """The command that runs this client, compiled for Java 11 without a warning."""
    folder.mkdir()
    (folder / "Client.java").write_text(text, "utf-8")
    line = "javac --release 11 -encoding UTF-8 -Xlint:all -Werror Client.java"
    subprocess.run(line.split(), cwd=folder, check=True)
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", str(folder), "Client"]


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_the_skeleton_in_java_lacks_three_rows_and_is_right_once_it_has_them(tmp_path):
    """The same in Java, which compiles for Java 11 without a warning."""
    need("javac", shutil.which("javac"), "apt-get install default-jdk-headless")
    found = course.check_client(compiled(tmp_path / "whole", whole("java")), limit=60)
    assert not_right(found) == {}
    part = compiled(tmp_path / "part", course.skeleton("java"))
    assert not_right(course.check_client(part, only=LEFT_OUT)) == dict.fromkeys(LEFT_OUT, "UNKNOWN")


@pytest.mark.parametrize(
    "vector", VECTORS[::6], ids=lambda one: f"{one['hash']}-{one['signature']}"
)
def test_openssl_makes_the_same_signatures(vector):
    """Digest and token of a vector are what openssl makes of the same keys and texts."""
    need("openssl", shutil.which("openssl"), "apt-get install openssl")
    key = f"hexkey:{vector['secret_key'].encode().hex()}"
    command = f"openssl dgst -{vector['hash']} -mac HMAC -macopt {key} -binary".split()
    messages = {"digest": vector["access_key"], "token": f"{vector['random']}:{vector['key']}"}
    for name, message in messages.items():
        done = subprocess.run(command, input=message.encode(), capture_output=True, check=True)
        raw = done.stdout
        form = raw.hex().encode() if vector["signature"] == "hex" else raw
        assert vector[name] == base64.b64encode(form).decode()
        assert vector[f"{name}_encoded"] == quote(vector[name], safe="")


def test_the_vectors_hold_every_hash_and_form():
    """Each hash and form stands there three times, with easy and awkward keys, and what they make
    holds all that has to be percent-encoded."""
    pairs = Counter((vector["hash"], vector["signature"]) for vector in VECTORS)
    assert [*pairs.values()] == [3] * 8
    assert {"+", "/", "="} <= set("".join(vector["token"] for vector in VECTORS))
    assert any(not vector["secret_key"].isascii() for vector in VECTORS)


def test_the_contract_tells_all_that_is_tried():
    """Operations with their arguments, variables with their values, services and rows stand in the
    contract; each setting of a dialect has two values among the services."""
    text = course.contract()
    told = {
        name: (key, set(re.findall(r"\w+", words)))
        for name, words, key in re.findall(r"`(\w+)(.*)`  \n(without|\w\d)", text)
    }
    assert {name: key.replace("without", "") for name, (key, _) in told.items()} == OPERATIONS
    for ask in (ask for row in ROWS for ask in row.asks):
        assert set(ask.given) <= told[ask.operation][1]
    for answer in re.findall(r"\n\n    ({.*})\n", text):
        assert json.loads(answer)["ret"] == 0
    variables = settings(ck.Dialect())
    assert set(re.findall(r"\n\| CONFKIT_(\w+)", text)) == {
        name.removeprefix("CONFKIT_") for name in variables
    } | {"BASE_URL", "OUTGOING_URL", "ACCESS_KEY", "SECRET_KEY", "TIMEOUT"}
    for name, values in CHOICES.items():
        assert re.search(rf"\| CONFKIT_{name.upper()} \| .*{', '.join(values)} \|", text)
    for service in SERVICES:
        other = [
            f"{name.removeprefix('CONFKIT_')}={value}"
            for name, value in settings(service.dialect).items()
            if value != variables[name]
        ]
        assert f"- {service.name}: {', '.join(other)}" in text
    rows = re.findall(r"\n\| ([\w-]+) \| ([\w -]+) \| (?!what).*?( In each service\.)? \|", text)
    assert [(row.name, row.title, row.everywhere) for row in ROWS] == [
        (name, title, bool(each)) for name, title, each in rows
    ]
    used = {
        name: {str(settings(service.dialect)[name]) for service in SERVICES} for name in variables
    }
    assert [name for name, values in used.items() if len(values) == 1] == []


def test_what_is_asked_of_the_provider_covers_the_dialect():
    """Each setting of a dialect is behind a question, and each question says how sure we are."""
    frame = course.open_questions()
    settings = {name for names in frame["setting"] for name in names.split(", ")} - {""}
    assert settings == set(ck.Dialect.__dataclass_fields__)
    assert set(frame["sure"]) == {"seen", "assumed"}
    assert frame["question"].str.endswith("?").all()
    assert frame["question"].is_unique


def test_the_command_tells_rows_as_text_and_as_json_and_its_exit_status():
    """`confkit course check` prints the table or JSON, and ends with 1 where a row is wrong, with
    2 where rows are only missing. Each row is told on standard error when it is done; flags behind
    -- are the client's own, and `--only` among them is said to be."""
    line = ["--", "sh", "-c", "exit 64"]
    status, told, errors = run(
        "course", "check", "--only", "A4", "--only", "404", *line, "--only", "A7"
    )
    assert status == 2
    assert "UNKNOWN A4, delete room: it does not know delete_room" in told
    assert "of 2" not in told
    warned, first, *rows = errors.splitlines()
    assert "--only A7 stands behind --" in warned
    assert "2 rows" in first
    expected = {"UNKNOWN A4, delete room", "UNKNOWN 404, room not found"}
    assert {row.partition(": ")[2] for row in rows} == expected
    assert [row.partition(": ")[0] for row in rows] == ["1 of 2", "2 of 2"]
    line = ["--", "sh", "-c", "echo '{\"ret\":0}'", "--json"]
    status, told, _ = run("course", "check", "--json", "--only", "A1", "--only", "a5", *line)
    assert status == 1
    found = json.loads(told)
    assert found["verdict"] == "FAIL"
    assert [row["check"].partition(",")[0] for row in found["checks"]] == ["A1", "A5"]
    assert "no request of A1 reached the service" in found["checks"][0]["found"]


def test_the_command_prints_what_is_shipped_in_utf_8():
    """What is shipped is printed as it is, in any locale; another language is an error."""
    shown = subprocess.run(
        [sys.executable, "-m", "confkit", "course", "contract"],
        capture_output=True,
        check=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    assert (shown.stdout.decode(), shown.stderr) == (course.contract(), b"")
    assert json.loads(run("course", "vectors")[1]) == course.vectors()
    status, _, errors = run("course", "skeleton", "cobol")
    assert status == 1
    assert "There are java, sh" in errors
    assert "no command is given" in run("course", "check")[2]


def test_what_the_notebook_shows_of_the_clients_stands_in_them():
    """The pieces of shell and Java in notebook 07 are those of the clients that are shipped."""
    notebook = ROOT / "notebooks" / "course" / "07-your-own-client.ipynb"
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    pieces = re.findall(r"```(sh|java)\n(.*?)```", text, re.DOTALL)
    assert [language for language, _ in pieces] == ["sh", "java"] * 2
    for language, piece in pieces:
        shipped = [line.strip() for line in course.skeleton(language).splitlines()]
        assert [line for line in piece.splitlines() if line.strip() not in shipped] == []
