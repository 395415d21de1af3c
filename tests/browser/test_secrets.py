"""No saved notebook holds what was typed as a secret, though it holds the widgets' state."""

import random
from urllib.parse import quote

from tests.secrets.marks import Marks


def test_no_saved_notebook_holds_what_was_typed(lab):
    """Typed, set by code, cleared, abandoned half-way: the kernel has it, the file has not. The
    file does have what is typed into ipywidgets' own Password."""
    shown, kernel = lab.fresh("secrets").locator(".fields"), lab.kernel
    control = Marks(random.Random(1))
    shown.get_by_label("control").fill(control["typed password"])
    lab.until(lambda: control.found(lab.saved()))
    marks = Marks(random.Random(2))
    secret = marks["typed password"]
    for kind in ("password", "text"):
        shown.get_by_label(kind).fill(secret)
    has = f"print([field.text.reveal() for field in fields.values()] == [{secret!r}] * 2)"
    lab.until(lambda: kernel.run(has) == "True")
    assert not marks.found(lab.saved()), "typed"

    kernel.run("fields['password'].clear()")
    shown.get_by_label("text").fill("")
    lab.until(lambda: kernel.run("print(bool(fields['text'].text))") == "False")
    lab.until(lambda: shown.get_by_label("password").input_value() == "")
    assert not marks.found(lab.saved()), "cleared"

    shown.get_by_label("password").press_sequentially(secret[:11])
    assert not marks.found(lab.saved()), "abandoned half-way"

    shown.get_by_label("text").focus()
    kernel.run(f"fields['password'].set({secret!r})")
    shown.get_by_label("password").and_(shown.get_by_placeholder("(set)")).wait_for()
    assert not marks.found(lab.saved()), "set by code"


def test_no_saved_notebook_holds_what_was_typed_into_a_panel(lab):
    """Passwords and an address with a login: used, cleared or abandoned half-way, they are in no
    saved notebook, and in no output."""
    panels, kernel, marks = lab.fresh("secrets"), lab.kernel, Marks(random.Random(3))
    devices, rooms = panels.locator(".confkit-panel").all()

    password = marks["password in an address"]
    kernel.run(f"camera = client.sandbox.camera(login_name='adm1n', login_password={password!r})")
    login = f"//adm1n:{quote(password, safe='')}@"
    inside = kernel.run("print(camera)").replace("//", login)
    for label, typed in {"User ID": "door", "Name": "Front door", "Address": inside}.items():
        devices.get_by_label(label, exact=True).fill(typed)
    devices.get_by_role("button", name="Preflight").click()
    devices.get_by_role("status").get_by_text("The camera plays").wait_for()
    devices.get_by_role("button", name="Import", exact=True).click()
    devices.get_by_role("button", name="Keep").wait_for()
    devices.get_by_role("button", name="Import", exact=True).last.click()
    devices.get_by_text('Imported "Front door"').wait_for()
    devices.get_by_label("Login password").press_sequentially(marks["login_password"][:11])

    rooms.get_by_role("button", name="New room").click()
    secret = marks["host_password"]
    for label, typed in {"Topic": "Stand-up", "Owner": "ops", "Host password": secret}.items():
        rooms.get_by_label(label, exact=True).fill(typed)
    rooms.get_by_role("button", name="Create room").click()
    rooms.get_by_text("Created room").wait_for()

    text = lab.saved()
    assert marks.found(text) == []
    assert '"widgets": {' in text
    kernel.run("devices.clear()")
    assert marks.found(lab.saved()) == []
