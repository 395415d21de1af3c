"""The contract, its vectors, the command, and the two clients that are shipped."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import course
from confkit.course.clients.dialects import SERVICES, VARIABLES, settings
from confkit.course.clients.operations import OPERATIONS
from confkit.course.clients.rows import ROWS
from confkit.endpoints import ENDPOINTS
from tests.commands import run
from tests.conftest import need

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests" / "course" / "own_client.py"
VECTORS = course.vectors()["vectors"]
LEFT_OUT = ["A4", "A7", "B2"]


def witnesses():
    need("curl", shutil.which("curl"), "apt-get install curl")
    need("openssl", shutil.which("openssl"), "apt-get install openssl")


def verdicts(found):
    return {row.row: (row.verdict, row.why) for row in found.rows if row.verdict != "right"}


def confkit(*arguments):
    return run("course", *arguments)


def test_a_client_in_python_is_right_in_every_row():
    """The small client of these tests meets the whole contract, every day; that in Java nightly."""
    found = course.check_client([sys.executable, "-S", str(OWN), "none"])
    assert verdicts(found) == {}
    assert len(found.rows) == len(ROWS)


def test_the_client_in_shell_is_right_in_every_row(tmp_path):
    """The shipped client in shell, curl and openssl meets the whole contract."""
    witnesses()
    script = tmp_path / "client.sh"
    script.write_text(course.example("sh"), "utf-8")
    found = course.check_client(["sh", str(script)])
    assert verdicts(found) == {}
    assert found.ok
    assert len(found.rows) == len(ROWS)


def test_the_skeleton_in_shell_lacks_three_rows_and_has_no_wrong_one(tmp_path):
    """What the skeleton in shell leaves to the learner is missing, and names its place."""
    witnesses()
    script = tmp_path / "client.sh"
    script.write_text(course.skeleton("sh"), "utf-8")
    found = course.check_client(["sh", str(script)], only=["A1", "A3", "B3", *LEFT_OUT])
    assert [name for name, told in verdicts(found).items() if told[0] == "missing"] == LEFT_OUT
    assert found.exit_status == 2


# What makes a virtual machine start sooner, without any of which it does the same.
JAVA = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djavax.net.ssl.trustStore=NONE"]


def compiled(folder, text, archived=True):
    """The command that runs this client, compiled for Java 11 without a warning."""
    folder.mkdir()
    (folder / "Client.java").write_text(text, "utf-8")
    compiler = ["javac", *[f"-J{option}" for option in JAVA[1:3]], "--release", "11", "-encoding",
                "UTF-8", "-Xlint:all", "-Werror"]  # fmt: skip
    environment = {**os.environ, **settings(ck.Dialect()), "CONFKIT_ACCESS_KEY": "a",
                   "CONFKIT_SECRET_KEY": "b", "CONFKIT_TIMEOUT": "1",
                   "CONFKIT_BASE_URL": "http://127.0.0.1:9"}  # fmt: skip
    main = ["-cp", str(folder / "client.jar"), "Client"]
    steps = [
        [*compiler, "-d", "classes", "Client.java"],
        ["jar", "cf", "client.jar", "-C", "classes", "."],
        [*JAVA, "-XX:ArchiveClassesAtExit=client.jsa", *main, "get_room"],
    ]
    for step in steps if archived else steps[:2]:
        done = subprocess.run(step, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return [*JAVA, *[f"-XX:SharedArchiveFile={folder / 'client.jsa'}"] * archived, *main]


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_the_client_in_java_is_right_in_every_row(tmp_path):
    """The shipped client in Java compiles for Java 11 without a warning and meets the contract; of
    its skeleton the operations of the exercises are missing."""
    need("javac", shutil.which("javac"), "apt-get install default-jdk-headless")
    found = course.check_client(compiled(tmp_path / "whole", course.example("java")), limit=60)
    assert verdicts(found) == {}
    part = compiled(tmp_path / "part", course.skeleton("java"), archived=False)
    assert [row.verdict for row in course.check_client(part, only=["A4"]).rows] == ["missing"]


@pytest.mark.parametrize(
    "vector", VECTORS[::2], ids=lambda one: f"{one['hash']}-{one['signature']}"
)
def test_openssl_makes_the_same_signatures(vector):
    """Digest and token of a vector are what openssl makes of the same keys and texts."""
    need("openssl", shutil.which("openssl"), "apt-get install openssl")
    for name, message in (("digest", vector["access_key"]),
                          ("token", f"{vector['random']}:{vector['key']}")):  # fmt: skip
        raw = subprocess.run(
            ["openssl", "dgst", f"-{vector['hash']}", "-mac", "HMAC", "-macopt",
             f"hexkey:{vector['secret_key'].encode().hex()}", "-binary"],
            input=message.encode(), capture_output=True, check=True,
        ).stdout  # fmt: skip
        form = raw.hex().encode() if vector["signature"] == "hex" else raw
        assert vector[name] == base64.b64encode(form).decode()
        assert vector[f"{name}_encoded"] == quote(vector[name], safe="")


def test_the_vectors_hold_every_hash_and_form_and_the_published_two():
    """Each hash and form stands there with an easy and an awkward key, and so do the two vectors
    that are published for the demo keys."""
    pairs = {(vector["hash"], vector["signature"]) for vector in VECTORS}
    assert len(pairs) == 8
    assert len(VECTORS) == 24
    usual = VECTORS[0]
    assert (usual["random"], usual["key"]) == ("abc", "def")
    assert usual["digest"] == "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="
    assert usual["token"] == "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="
    tokens = "".join(vector["token"] for vector in VECTORS)
    assert {"+", "/", "="} <= set(tokens)
    assert any(not vector["secret_key"].isascii() for vector in VECTORS)


def test_the_contract_tells_all_that_is_tried():
    """Operations, arguments, variables and rows stand in the contract; every operation of the
    interface has one, and each setting of a dialect is told to the client."""
    text = course.contract()
    for operation in OPERATIONS.values():
        assert f"`{operation.name}" in text
        assert json.loads(operation.answer)["ret"] == 0
    assert {operation.row for operation in OPERATIONS.values()} - {""} == set(ENDPOINTS)
    assert all(f"CONFKIT_{name}" in text for name in VARIABLES)
    assert {f"CONFKIT_{name}" for name in VARIABLES} > set(settings(ck.Dialect()))
    assert all(f"| {row.name} | {row.title} | " in text and row.asks for row in ROWS)
    used = {name: {str(settings(service.dialect)[name]) for service in SERVICES}
            for name in settings(ck.Dialect())}  # fmt: skip
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
    2 where rows are only missing; flags behind -- are the client's own."""
    status, told, errors = confkit("check", "--only", "A1", "--", "sh", "-c", "exit 64", "--json")
    assert status == 2
    assert "missing A1" in told
    assert "--json" not in errors
    assert "0 right, 0 wrong, 1 missing" in told
    line = ["sh", "-c", "echo '{\"ret\":0}'"]
    status, told, _ = confkit("check", "--json", "--only", "A1", "--only", "a5", "--", *line)
    assert status == 1
    found = json.loads(told)
    assert found["counts"] == {"right": 0, "wrong": 2, "missing": 0}
    assert [row["row"] for row in found["rows"]] == ["A1", "A5"]
    assert "no request of A1 reached the service" in found["rows"][0]["why"]


def test_the_command_tells_on_standard_error_how_far_it_is():
    """Each row is told when it is done, beside the table; `--only` behind -- is told to be the
    client's own."""
    line = ["--", "sh", "-c", "exit 64"]
    status, told, errors = confkit("check", "--only", "A4", "--only", "404", *line, "--only", "A7")
    assert status == 2
    assert "of 2" not in told
    warned, first, *rows = errors.splitlines()
    assert "--only A7 stands behind --" in warned
    assert "2 rows" in first
    assert {row.partition(": ")[2] for row in rows} == {"A4 is missing", "404 is missing"}
    assert [row.partition(": ")[0] for row in rows] == ["1 of 2", "2 of 2"]


def test_a_row_is_told_when_all_services_have_tried_it():
    """`each` is called once a row, with what stands in the table in the end; here with a mistake
    that shows in one of the services alone."""
    rows = []
    command = [sys.executable, "-S", str(OWN), "usual token name"]
    found = course.check_client(command, only=["A3", "416"], each=rows.append)
    assert "2 of 3 services right" in found.rows[0].why
    assert sorted(rows, key=str) == sorted(found.rows, key=str)


def test_the_command_prints_what_is_shipped_in_utf_8():
    """What is shipped is printed as it is, in any locale; another language is an error."""
    shown = subprocess.run(
        [sys.executable, "-m", "confkit", "course", "contract"], capture_output=True, check=True,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    assert (shown.stdout.decode(), shown.stderr) == (course.contract(), b"")
    assert json.loads(confkit("vectors")[1]) == course.vectors()
    status, _, errors = confkit("example", "cobol")
    assert status == 1
    assert "There are java, sh" in errors
    assert "no command is given" in confkit("check")[2]


def test_a_skeleton_is_its_example_without_three_operations():
    """Nothing but the operations of the exercises is left out, and each place says which."""
    for language in ("java", "sh"):
        whole, part = course.example(language), course.skeleton(language)
        assert part.count("Your turn: ") == len(LEFT_OUT)
        assert "exercise:" not in whole + part
        kept = [line for line in part.splitlines() if "Your turn: " not in line]
        assert set(kept) <= set(whole.splitlines())
        assert "delete_room" in whole
        assert "delete_room" not in part


def test_what_the_notebook_shows_of_the_clients_stands_in_them():
    """The pieces of shell and Java in notebook 07 are those of the clients that are shipped."""
    notebook = ROOT / "notebooks" / "course" / "07-your-own-client.ipynb"
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    pieces = re.findall(r"```(sh|java)\n(.*?)```", text, re.DOTALL)
    assert [language for language, _ in pieces] == ["sh", "java"] * 2
    for language, piece in pieces:
        shipped = [line.strip() for line in course.example(language).splitlines()]
        assert [line for line in piece.splitlines() if line.strip() not in shipped] == []


def test_the_table_shows_as_text_as_html_and_as_a_frame():
    """A check shows its rows, escaped, and its counts, in each form."""
    rows = (course.ClientRow("A1", "authenticate", "right"),
            course.ClientRow("A3", "get room", "wrong", "it printed <b>"))  # fmt: skip
    found = course.ClientCheck(rows)
    assert str(found).endswith("1 right, 1 wrong, 0 missing")
    assert "it printed &lt;b&gt;" in found._repr_html_()
    assert list(found.to_frame()["verdict"]) == ["right", "wrong"]
    assert json.loads(found.as_json())["rows"][1]["why"] == "it printed <b>"
    assert found.exit_status == 1
    assert course.ClientCheck(()).to_frame().columns.tolist() == ["row", "title", "verdict", "why"]
