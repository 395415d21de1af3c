"""No saved notebook holds what was typed as a secret, with widget state saved and without."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from .conftest import quiet
from .opened import LAB

CAMERA = "Hunter3/&+=?"
HEAD = "room_id,user_id,user_name,user_address"
SECRET = 'Hunter2 "/&ä'
WIDGETS = "@jupyter-widgets/jupyterlab-manager:plugin"
CONTROL = "Hunter0 is kept"
CELLS = (
    """
import ipywidgets
from confkit.panels.parts import Field
control = ipywidgets.Password(description="control")
fields = {kind: Field(kind, kind) for kind in ("password", "text", "area", "file")}
box = ipywidgets.VBox([control, *fields.values()])
box.add_class("fields")
box
""",
    """
import confkit as ck
from confkit.panels import DevicePanel, RoomExplorer, WirePanel
client = ck.connect("sandbox")
room_id = ck.create_room(client, "Weekly sync", owner_id="ops")
""",
    "devices = DevicePanel(client, room_id)\ndevices",
    "rooms = RoomExplorer(client, [room_id])\nrooms",
    "wire = WirePanel(client)\nwire",
)


def holds(text: str, secret: str) -> list[str]:
    """The forms of the secret that stand in the text: raw, as JSON, percent-encoded, base64."""
    data = secret.encode()
    json_form = json.dumps(secret)[1:-1]
    looked_for = {
        "raw": [secret],
        "as JSON": [json_form, json.dumps(json_form)[1:-1], json.dumps(secret, ensure_ascii=False)],
        "percent-encoded": [quote(secret, safe=""), quote(secret), quote_plus(secret)],
        "base64": [form for shift in range(3) for form in _inner(data, shift)],
        "reversed": [secret[::-1]],
        "in hexadecimal": [data.hex()],
    }
    return [name for name, forms in looked_for.items() if any(form in text for form in forms)]


def _inner(data: bytes, shift: int) -> list[str]:
    """The base64 of the data within other data: without what its neighbours would change."""
    text = base64.b64encode(b"\0" * shift + data).decode()
    certain = text[(0, 2, 3)[shift] : len(text) - (0, 4, 4)[(shift + len(data)) % 3]]
    return [certain, certain.replace("+", "-").replace("/", "_")]


@pytest.fixture(scope="module", params=[True, False], ids=["state saved", "state not saved"])
def keeps_state(request, jupyter):
    """JupyterLab's setting "save widget state automatically", on and off."""
    jupyter.settle(WIDGETS, {"saveState": request.param})
    yield request.param
    jupyter.settle(WIDGETS, {})


@pytest.fixture(scope="module")
def page_of_secrets(keeps_state, opening):
    """All that secrets are typed into, in one notebook; each test types others."""
    with opening(LAB, *CELLS) as one:
        yield one


@pytest.fixture
def notebook(request, page_of_secrets):
    """The notebook in which secrets are typed; nothing in it may complain."""
    with quiet(request, page_of_secrets) as one:
        yield one


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        json.dumps(SECRET),
        quote(SECRET),
        json.dumps(json.dumps(SECRET)),
        *(base64.b64encode(b"x" * n + SECRET.encode() + b"y" * 5).decode() for n in range(4)),
    ],
)
def test_the_search_finds_a_secret_however_it_is_written(written):
    """A secret is found raw, in JSON, percent-encoded and in base64, alone and within others."""
    assert holds(f"before {written} after", SECRET)
    assert not holds("before after", SECRET)


def test_the_search_can_fail(keeps_state, notebook):
    """What is typed into ipywidgets' Password is in the saved notebook when its state is saved."""
    notebook.page.get_by_label("control").fill(CONTROL)
    notebook.until(lambda: notebook.kernel.run("print(control.value)") == CONTROL)
    assert bool(holds(notebook.saved(), CONTROL)) == keeps_state


def test_no_saved_notebook_holds_what_was_typed(keeps_state, notebook):
    """Typed, given from code, cleared, abandoned half-way: the kernel has it, the file has not."""
    shown, kernel = notebook.page.locator(".fields"), notebook.kernel
    for kind in ("password", "text", "area"):
        shown.get_by_label(kind).fill(SECRET)
    shown.get_by_label("file").set_input_files(
        {"name": "cameras.csv", "mimeType": "text/csv", "buffer": SECRET.encode()}
    )
    has = "print([str(field.text) for field in fields.values()] == [{0!r}] * 4)"
    notebook.until(lambda: kernel.run(has.format(SECRET)) == "True")
    assert not holds(notebook.saved(), SECRET), "typed"

    kernel.run("fields['password'].clear()")
    shown.get_by_label("text").fill("")
    notebook.until(lambda: kernel.run("print(fields['text'].text)") == "None")
    notebook.until(lambda: shown.get_by_label("password").input_value() == "")
    assert not holds(notebook.saved(), SECRET), "cleared"

    shown.get_by_label("password").press_sequentially(SECRET[:9])
    assert not holds(notebook.saved(), SECRET[:9]), "abandoned half-way"

    kernel.run(f"fields['password'].fill({SECRET!r})")
    shown.get_by_label("password").and_(shown.get_by_placeholder("(given)")).wait_for()
    assert not holds(notebook.saved(), SECRET), "given from code"
    assert ('"widgets": {' in notebook.file.read_text()) == keeps_state


def test_no_saved_notebook_holds_what_was_typed_into_a_panel(keeps_state, notebook):
    """Passwords, an address with a login, options, a table, and the token that WirePanel
    shows: used, cleared or abandoned half-way, they are in no saved notebook, and in no output."""
    kernel = notebook.kernel
    devices, rooms, wire = notebook.page.locator(".confkit-panel").all()

    kernel.run(f"camera = client.sandbox.camera(login_name='adm1n', login_password={CAMERA!r})")
    inside = kernel.run("print(camera)").replace("//", f"//adm1n:{quote(CAMERA, safe='')}@")
    devices.get_by_label("User id").fill("door")
    devices.get_by_label("Name", exact=True).fill("Front door")
    devices.get_by_label("Address").fill(inside)
    devices.get_by_role("button", name="Preflight").click()
    devices.get_by_role("status").get_by_text("The camera plays").wait_for()
    devices.get_by_role("button", name="Import", exact=True).click()
    devices.get_by_role("alertdialog").get_by_role("button").first.click()
    devices.get_by_role("status").get_by_text("was imported").wait_for()
    devices.get_by_label("Login password").press_sequentially("AbandonedHalfw")
    devices.get_by_role("tab", name="Many").click()
    devices.get_by_label("table as text").fill(
        f"{HEAD}\n{kernel.run('print(room_id)')},,x,{inside}"
    )
    devices.get_by_role("button", name="Check the table").click()
    devices.get_by_role("alert").get_by_text("The table has").wait_for()

    rooms.get_by_role("button", name="New room").click()
    rooms.get_by_label("Host password").fill("Open-Sesame!")
    rooms.get_by_label("Topic").fill("Stand-up")
    rooms.get_by_label("Owner").fill("ops")
    rooms.get_by_role("button", name="Create room").click()
    rooms.get_by_role("status").get_by_text("Created room").wait_for()

    wire.get_by_role("button", name="How the token is made").click()
    wire.get_by_role("button", name="Hide the token").wait_for()
    steps = "wire.token_steps() if len(step.value) > 20"  # the keys themselves are published
    made = kernel.run(f"print('\\n'.join(step.value for step in {steps}))").splitlines()
    token = made[-2]
    notebook.until(lambda: token in wire.inner_text())
    wire.locator("tbody tr[data-key]").first.click()
    wire.locator("pre").first.wait_for()

    secrets = [CAMERA, "AbandonedHalfw", "Open-Sesame!", *made]
    text = notebook.saved()
    assert {secret: holds(text, secret) for secret in secrets if holds(text, secret)} == {}
    assert ('"widgets": {' in text) == keeps_state
    for told in ("Front door", "Stand-up", "was imported"):  # the list, the rooms, a message
        assert told in notebook.page.inner_text("body")
        assert not holds(text, told)
    kernel.run("devices.clear(); devices.clear_table()")
    wire.get_by_role("button", name="Hide the token").click()
    notebook.until(lambda: token not in wire.inner_text())
    text = notebook.saved()
    assert {secret: holds(text, secret) for secret in secrets if holds(text, secret)} == {}
