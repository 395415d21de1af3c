"""The panel that connects: profiles, fields, test and client; nothing typed is ever saved."""

import os
import threading
import warnings
from concurrent.futures import CancelledError

import pytest

import confkit as ck
from confkit import profiles
from confkit.panels import ConnectPanel
from confkit.panels.service_form import dialect_choices
from tests.panels.pressing import LONG, press, state
from tests.scripted import AUTHENTICATE, GRANTED

LIST = "/avd/api/outgoing/getOutgoingUsers"
EMPTY = {"ret": 0, "data": {"total": 0, "items": []}}
SECRET = "s3cr3t-of-ours"


@pytest.fixture
def service(script):
    """A scripted service in which all is well."""
    return script({LIST: EMPTY})


@pytest.fixture
def filled(service):
    """A panel with that service's addresses and the demo keys filled in."""
    panel = ConnectPanel()
    panel.fill(base_url=service.base_url, outgoing_url=service.base_url,
               access_key="demo_access", secret_key="demo_secret")  # fmt: skip
    yield panel
    assert panel.wait(LONG)
    if panel.value is not None:
        panel.value.close()


@pytest.fixture
def embedded():
    """Ends the process's own sandbox after the test."""
    yield
    ck.connect("sandbox").close()


def stored(name, service, **settings):
    """A profile of this service."""
    profiles.save(name, {
        "base_url": service.base_url, "outgoing_url": service.base_url,
        "access_key": "demo_access", "secret_key": "demo_secret", **settings,
    })  # fmt: skip


def test_the_sandbox_is_offered_first_then_the_profiles_then_the_fields(service):
    """The fields show only when they are what is chosen; nothing is connected yet."""
    stored("b-prod", service)
    stored("a-lab", service)
    panel = ConnectPanel()
    assert [value for _, value in panel.profile.options] == ["sandbox", "a-lab", "b-prod", ""]
    assert panel.profile.value == "sandbox"
    assert panel.value is None
    assert panel.service.layout.display == "none"
    panel.profile.value = ""
    assert panel.service.layout.display is None
    panel.fill("a-lab")
    assert panel.service.layout.display == "none"
    assert service.seen.total() == 0


def test_connecting_to_the_sandbox_gives_its_client_and_names_it(embedded):
    """The same by a click: the client is the value, and the head says whose it is."""
    panel = ConnectPanel()
    press(panel, "Connect")
    assert panel.value.sandbox is ck.connect("sandbox").sandbox
    assert (panel.frame.service, panel.frame.sandbox) == ("SANDBOX", True)
    assert panel.frame.text.startswith("Connected to SANDBOX. Nothing was sent yet")
    assert panel.value.sandbox.count() == 0


def test_a_profile_gives_its_client(service):
    """Its name is the client's, and stands in the head."""
    stored("prod", service)
    panel = ConnectPanel()
    panel.fill("prod", read_only=True, timeout=(2, 3))
    with panel.connect() as client:
        assert client is panel.value
        assert (client.name, client.base_url) == ("prod", service.base_url)
        assert (client.read_only, client.timeout) == (True, (2.0, 3.0))
        assert "Read only" in panel.frame.note
        assert service.seen.total() == 0


def test_addresses_and_keys_make_a_client_and_are_in_no_saved_state(filled, service):
    """Filled in or typed, connected or abandoned half-way: no trait of any widget holds them."""
    client = filled.connect()
    assert (client.base_url, client.access_key, client.secret_key) == (
        service.base_url, "demo_access", "demo_secret"
    )  # fmt: skip
    filled.fields["secret_key"]._hear(None, {"kind": "typed", "text": SECRET}, [])
    filled.fields["base_url"]._hear(None, {"kind": "typed", "text": f"http://u:{SECRET}@h"}, [])
    with pytest.raises(ck.ConfigError):
        filled.connect()
    saved = state(filled)
    assert SECRET not in saved
    assert "demo_secret" not in saved
    assert "demo_access" not in saved.replace(repr(client), "")
    assert "holds a login" in filled.frame.text
    assert filled.value is client, "what was connected stays when something else was refused"


def test_what_was_typed_with_white_space_is_told_in_the_panel_and_nowhere_else(filled, capsys):
    """A key that was pasted with a line end is mended, and the panel says so."""
    filled.fill(secret_key="demo_secret\n")
    with warnings.catch_warnings(record=True) as loose:
        warnings.simplefilter("always")
        client = filled.connect()
    assert client.secret_key == "demo_secret"
    assert "white space around secret_key (from argument) was removed" in filled.frame.text
    assert loose == []
    assert capsys.readouterr().err == ""


def test_a_test_tells_what_each_interface_says_and_leaves_the_value_alone(filled, service):
    """Both marks, and from then on nothing of it is held: connecting is another step."""
    press(filled, "Test")
    assert filled.value is None
    assert filled.result.value.count("✓ well") == 2
    assert "no devices are listed" in filled.result.value
    assert (filled.frame.text, filled.frame.tone) == ("127.0.0.1 answers.", "good")
    assert service.seen == {AUTHENTICATE: 1, LIST: 1}
    assert [one.ok for one in filled.test()] == [True, True]
    filled.fill("sandbox")
    assert filled.result.value == "", "what was found of one service is not said of another"


def test_a_test_with_wrong_keys_names_the_cause_and_costs_one_failed_login(filled, service):
    """A is not well, with what to do; B was not tried, which is neither well nor broken."""
    service.script[AUTHENTICATE] = {"ret": 401, "msg": "<b>no</b> demo_secret"}
    a, b = filled.test()
    assert (a.ok, b.ok) == (False, None)
    page = filled.result.value
    assert "✗ not well" in page
    assert "authentication failed (401)" in page
    assert "Check the access key" in page
    assert "not tried: no token" in page
    assert filled.frame.tone == "bad"
    assert "<b>no" not in page
    assert "demo_secret" not in page + state(filled)
    assert service.seen == {AUTHENTICATE: 1}


def test_a_test_of_a_service_that_is_down_is_told(filled, script):
    """Nothing is raised: the result says that it refused the connection, and what to check."""
    filled.fill(base_url="http://127.0.0.1:1")
    a, _ = filled.test()
    assert isinstance(a.error, ck.TransportError)
    assert "it refused the connection" in filled.result.value
    assert "Check that the service runs" in filled.result.value


def test_a_key_in_the_field_of_an_address_is_not_quoted(filled):
    """What has no scheme may be anything that was pasted into the wrong field."""
    filled.fill(base_url=SECRET)
    with pytest.raises(ck.ConfigError, match="base_url is no address") as raised:
        filled.connect()
    assert SECRET not in state(filled) + str(raised.value)


def test_what_was_found_of_one_service_is_not_shown_beside_another(filled, service):
    """The profile is changed while the test runs: only the name of what was tested is told."""
    held = threading.Event()
    service.script[AUTHENTICATE] = lambda _: held.wait(LONG) and GRANTED
    thread = threading.Thread(target=filled.test)
    thread.start()
    while not service.seen[AUTHENTICATE]:
        assert thread.is_alive()
    filled.fill("sandbox")
    held.set()
    thread.join(LONG)
    assert filled.result.value == ""
    assert filled.frame.text.startswith("127.0.0.1 answers. Another service")


def test_a_test_can_be_cancelled(filled, service):
    """Who has waited long enough for a service ends it; the panel says so and can go on."""
    held = threading.Event()
    service.script[AUTHENTICATE] = lambda _: held.wait(LONG) and GRANTED
    raised = []

    def test():
        try:
            filled.test()
        except CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=test)
    thread.start()
    while not service.seen[AUTHENTICATE]:
        assert thread.is_alive()
    filled.cancel()
    thread.join(LONG)
    held.set()
    assert len(raised) == 1
    assert filled.frame.text == "Cancelled."
    service.script[AUTHENTICATE] = GRANTED
    assert all(one.ok for one in filled.test())


def test_testing_the_sandbox_does_not_end_it(embedded):
    """The client of the test is let go without the service that other cells use."""
    client = ck.connect("sandbox")
    panel = ConnectPanel()
    assert [one.ok for one in panel.test()] == [True, True]
    assert not client.sandbox.closed
    assert ck.list_devices(client) == []


def test_a_client_that_is_replaced_is_closed_but_a_sandbox_goes_on(filled, service, embedded):
    """The old connections end; the embedded service is everybody's."""
    other = ck.connect("sandbox")
    first = filled.connect()
    filled.fill("sandbox")
    second = filled.connect()
    with pytest.raises(ck.ConfigError, match="this client is closed"):
        ck.list_devices(first)
    filled.fill("")
    third = filled.connect()
    assert ck.list_devices(other) == ck.list_devices(second) == ck.list_devices(third) == []
    assert filled.frame.service == "127.0.0.1"


def test_nothing_filled_in_names_the_three_ways(service, monkeypatch):
    """Without addresses the panel says what is missing; with the environment it connects to it."""
    panel = ConnectPanel()
    panel.fill("")
    with pytest.raises(ck.ConfigError, match="Three ways to give"):
        panel.connect()
    assert "no service is named" in panel.frame.text
    assert panel.value is None
    for name, value in (("BASE_URL", service.base_url), ("OUTGOING_URL", service.base_url),
                        ("ACCESS_KEY", "demo_access"), ("SECRET_KEY", SECRET)):  # fmt: skip
        monkeypatch.setenv(f"CONFKIT_{name}", value)
    press(panel, "Connect")
    assert panel.value.secret_key == SECRET
    assert SECRET not in state(panel)
    panel.value.close()


@pytest.mark.parametrize("timeout", ["soon", "0", "-1", "1,2,3", "inf"])
def test_a_wrong_time_out_is_told_by_its_name(filled, timeout):
    """What is no time is refused in the panel, by a click as by a call."""
    filled.timeout.value = timeout
    press(filled, "Connect")
    assert filled.frame.text.startswith("timeout is ")
    assert "Give seconds" in filled.frame.text
    assert filled.frame.tone == "bad"
    with pytest.raises(ck.ConfigError):
        filled.test()


def test_settings_of_the_dialect_go_over_those_of_the_profile(service):
    """A default leaves the profile's own setting; another choice is put over it."""
    stored("odd", service, dialect={"hash": "sha256", "token_parameter": "token"})
    panel = ConnectPanel()
    panel.fill("odd")
    with panel.connect() as client:
        assert client.dialect == ck.Dialect(hash="sha256", token_parameter="token")
    panel.dialect["hash"].value = "sha1"
    panel.dialect["signature"].value = "raw"
    with panel.connect() as client:
        assert client.dialect == ck.Dialect(signature="raw", token_parameter="token")


def test_every_setting_of_a_dialect_can_be_chosen(filled):
    """There is a menu for each, with each value that it may have; other names of a token too."""
    assert set(dialect_choices()) == set(ck.Dialect.__dataclass_fields__) == set(filled.dialect)
    wanted = ck.Dialect("sha512", "raw", "my_token", "token", "result", "snake_case", "POST",
                        "POST", "json", remove_token_parameter="accessToken")  # fmt: skip
    filled.fill(dialect=wanted)
    assert filled.connect().dialect == wanted
    filled.fill(dialect={"hash": "md5"})
    assert filled.connect().dialect == ck.Dialect(hash="md5")
    for name, (_, choices) in dialect_choices().items():
        for _, value in choices:
            ck.Dialect.of({name: value} if value else {})


def test_the_sandbox_has_its_own_dialect(embedded):
    """What contradicts it is refused with the way out, and no client is made."""
    panel = ConnectPanel()
    panel.fill(dialect={"hash": "md5"})
    with pytest.raises(ck.ConfigError, match="its own dialect"):
        panel.connect()
    assert "Sandbox(dialect=...)" in panel.frame.text


@pytest.mark.parametrize(
    ("given", "told"),
    [({"profile": "nowhere"}, "there is no profile 'nowhere' here. There are sandbox"),
     ({"dialect": {"hash": "crc"}}, "hash is 'crc'"), ({"dialect": {"x": 1}}, "is called x"),
     ({"dialect": 5}, "dialect is 5"), ({"timeout": "soon"}, "timeout is 'soon'")],
)  # fmt: skip
def test_filling_in_what_is_not_there_is_refused(given, told):
    """A profile or setting that nobody knows is named, with those that there are."""
    with pytest.raises(ck.ConfigError, match=told):
        ConnectPanel().fill(**given)


def test_filling_in_a_part_leaves_the_rest(filled):
    """What is not given stays as it was."""
    filled.fill(timeout=7, read_only=True)
    filled.fill(access_key="other")
    client = filled.connect()
    assert (client.timeout, client.read_only, client.access_key) == ((7.0, 7.0), True, "other")


def test_profiles_that_cannot_be_read_are_told_and_the_rest_works(embedded):
    """A broken file stands in the panel with its name; the sandbox can still be chosen."""
    profiles.path().parent.mkdir(parents=True)
    profiles.path().write_text("secret_key = [broken")
    panel = ConnectPanel()
    assert "profiles.toml is not TOML" in panel.frame.text
    assert panel.frame.tone == "bad"
    assert [value for _, value in panel.profile.options] == ["sandbox", ""]
    assert panel.connect().sandbox is not None


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_a_profile_file_that_others_can_read_is_told_in_the_panel(service):
    """The warning stands where it is seen, when the panel is made and when it connects."""
    stored("prod", service)
    profiles.path().chmod(0o644)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel = ConnectPanel()
        assert "can be read by others" in panel.frame.text
        panel.fill("prod")
        with panel.connect():
            assert panel.frame.text.count("can be read by others") == 1


def test_the_settings_fold(filled):
    """Time-out and dialect are out of the way until they are asked for."""
    assert filled.settings.layout.display == "none"
    filled.more.click()
    assert filled.settings.layout.display is None
    assert filled.more.description == "Fewer settings"
    filled.more.click()
    assert filled.settings.layout.display == "none"
