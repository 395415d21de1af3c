"""Runbooks on a real service, and what the scenes of a sandbox do not show: an interruption, a
service that makes another room, people who come back, a recording of others."""

import json
import threading
from collections import Counter

import pandas as pd
import pytest

import confkit as ck
from confkit.runbook import service
from tests.runbook.harness import outside, world

LEFT = "no such room is left"


@pytest.mark.parametrize(
    ("name", "scene", "changed"),
    [
        ("authentication-fails", "healthy", ""),
        ("bulk-camera-import", "healthy", "B1 B1 B1 B1"),
        ("camera-does-not-appear", "moved", "B1 B2"),
        ("deployment-acceptance", "healthy", "A2 A4 A7 B1 B1 B2 B2"),
        ("force-user-offline", "there", "A7"),
        ("media-server-gone", "healthy", "A7 A7 A7"),
        ("nobody-can-join", "healthy", "A2 A4"),
        ("stray-devices", "strays", "B2"),
    ],
)
def test_on_a_real_service_of_another_dialect_exactly_that_is_changed(name, scene, changed):
    """With apply each passes, and leaves no other room behind."""
    with world(name, scene, real=True) as there:
        watch = {"watch": 0.2} if name == "force-user-offline" else {}
        played = there.play(apply=True, **watch)
        assert played.wrong == {}, played
        assert played.changed == Counter(changed.split())
        assert not played.left
        if name == "camera-does-not-appear":
            [device] = ck.list_devices(there.client)
            assert device.user_id == "cam-desk"
            assert device.user_address == there.inputs["address"]
            assert device.options["login_name"] == "admin"


def test_keys_that_work_cost_two_logins():
    """One of the doctor, one of the client; a second login of the client is tried with apply alone,
    and B2, which is a change, never asked."""
    second = "a second login leaves the first one's token alone"
    with world("authentication-fails", "healthy") as there:
        played = there.play()
        assert played["a token holds for several calls"].detail == "3 calls, 1 login"
        assert (played[second].outcome, there.sandbox.count("/rtc/auth/valid")) == ("SKIP", 2)
        assert there.play(apply=True)[second].detail == "both tokens are accepted"


def test_keys_that_are_refused_are_not_the_media_server():
    """Nothing else is asked, and the advice leads to the other runbook."""
    with world("media-server-gone", "") as there:
        with outside(there.sandbox, secret_key="wrong") as client:
            played = there.play(client=client, apply=True)
        assert played.wrong == {"interface A takes the keys": "UNKNOWN"}
        assert "authentication-fails" in played.advice
        assert there.sandbox.count() == 1


@pytest.mark.parametrize(
    ("name", "scene", "step", "last"),
    [
        ("camera-does-not-appear", "moved", "cameras.import_device", "what was listed before"),
        ("nobody-can-join", "healthy", "rooms.create_room", LEFT),
        ("deployment-acceptance", "healthy", "service.get_room_users", "nothing of this test is"),
        ("deployment-acceptance", "healthy", "service.import_device", "nothing of this test is"),
    ],
)
def test_ctrl_c_in_the_middle_is_undone_or_told(monkeypatch, name, scene, step, last):
    """Once the service has made a room it is deleted before the notebook ends, with its camera;
    that a camera was removed and may be missing is a line."""

    def ended(*given, **named):
        if last == LEFT:
            ck.create_room(*given, **named)
        raise KeyboardInterrupt

    with world(name, scene) as there:
        before = there.sandbox.room_ids()
        monkeypatch.setattr(f"confkit.runbook.{step}", ended)
        with pytest.raises(KeyboardInterrupt):
            there.play(apply=True)
        told = there.book.checks[-1]
        assert told.name.startswith(last)
        assert told.outcome == ("FAIL" if scene == "moved" else "PASS")
        assert (there.sandbox.room_ids(), ck.list_devices(there.client)) == (before, [])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("nobody-can-join", {}),
        ("deployment-acceptance", {"it is read back as it was given (A3)": "FAIL"}),
    ],
)
def test_what_the_service_made_of_the_creation_is_what_is_deleted(name, wrong):
    """A room under another ID than the one that was chosen, which is a fault in one line only."""
    with world(name, "healthy") as there:
        before = there.sandbox.room_ids()
        other = ck.create_room(there.client, service.TOPIC, service.OWN, attendee_max=5)
        played = there.play(A2={"body": json.dumps({"ret": 0, "room_id": other})}, apply=True)
        assert played.wrong == wrong
        assert all(other in played[check].detail for check in wrong)
        assert there.sandbox.room_ids() == before


def test_a_password_of_the_environment_serves_a_table_without_any(monkeypatch):
    """It is no input, and shows nowhere."""
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "desk-2468")
    with world("bulk-camera-import", "healthy") as there:
        played = there.play(login_password=None, apply=True)
    assert played.verdict == "PASS", played
    assert "desk-2468" not in played.text


def test_a_camera_with_a_login_is_tried_with_it():
    """The acceptance test imports it, and does not show its password."""
    login = {"login_name": "admin", "login_password": "p@:/#%w"}
    with world("deployment-acceptance") as there:
        played = there.play(camera=there.sandbox.camera(**login), **login, apply=True)
    assert played.verdict == "PASS", played
    assert "p@:/#%w" not in played.text


def test_whether_the_rooms_can_take_the_cameras(tmp_path):
    """Cameras need a place and a video stream, and no audio. A table without a row is UNKNOWN."""
    table = tmp_path / "cameras.csv"
    lines = ["room_id,user_id,user_name,user_address"]
    with world("bulk-camera-import", "") as there:
        for options in ({"max_audio": 1, "max_video": 2}, {"max_video": 1}, {"attendee_max": 2}):
            room_id = ck.create_room(there.client, "Doors", "ops", **options)
            lines += [f"{room_id},{room_id}-{n},Door,sip://127.0.0.1:9/{n}" for n in range(2)]
        there.sandbox.join(room_id, "Ada")
        table.write_text("\n".join(lines))
        fit = there.play(table=str(table), timeout=1.0)["the rooms can take them"]
        table.write_text(lines[0])
        empty = there.play(table=str(table), apply=True)
    video, places = fit.detail.split(", and 2 come")[:2]
    assert video.endswith(" has 0 of max_video 1")
    assert places.endswith(f"{room_id} has 1 of attendee_max 2")
    assert fit.outcome == "FAIL"
    assert empty.wrong == {"every camera is in its room": "UNKNOWN"}


# People


def test_exactly_the_one_who_is_meant_is_removed():
    """Named by ID among two of one name: that one is gone, the others stay."""
    with world("force-user-offline", "two-of-that-name") as there:
        people = there.sandbox.people(there.inputs["room"])
        guest = people[-1]["user_id"]
        assert there.play(user=guest, watch=0.2, apply=True).verdict == "PASS"
        assert there.sandbox.people(there.inputs["room"]) == people[:-1]
        again = there.play(user=guest, watch=0.2, apply=True)
        assert again.wrong == {"the user is in the room, and nobody else is meant": "FAIL"}
        assert not again.changed


def test_a_user_who_leaves_a_moment_later_is_not_one_who_came_back():
    """The service says that it is done, and the user is gone after the first look: PASS."""
    with world("force-user-offline", "there") as there:
        room_id = there.inputs["room"]
        ada = there.sandbox.people(room_id)[0]["user_id"]
        later = threading.Timer(0.5, there.sandbox.leave, (room_id, ada))
        later.start()
        played = there.play(A7={"body": '{"ret": 0}'}, watch=1.2, apply=True)
        later.join()
    assert played.verdict == "PASS", played


# Recordings


def test_a_recording_is_judged_by_its_own_service_and_by_what_could_be_read(tmp_path):
    """The samples name whose they are, and those of another service in the folder do not count.
    What failed says nothing of whether a room was full: UNKNOWN, and the room is named. A folder
    without samples is UNKNOWN."""
    whole = "every room was read often enough"
    with world("capacity-review", "") as there:
        empty = there.play(recording=str(tmp_path))
        past = there.sandbox.simulate(rooms=3, days=30, every=3600, seed=3)
        past["attendee_max"] = 500
        never, half, _ = past.room_id.unique()
        late = past.index >= len(past) / 2
        lost = (past.room_id == never) | (past.room_id == half) & late
        past.loc[lost, ["users", "people", "devices"]], past.loc[lost, "ret"] = pd.NA, 700
        ck.save_occupancy(past, tmp_path)
        played = there.play(recording=str(tmp_path), now=past.time.max())
        with outside(there.sandbox) as client:
            elsewhere = there.play(recording=str(tmp_path), client=client)
        ck.save_occupancy(past.assign(users=500, service="prod"), tmp_path)
        mixed = there.play(recording=str(tmp_path), now=past.time.max())
    assert empty.wrong == {"the recording can be read": "UNKNOWN"}
    assert "no sample" in empty["the recording can be read"].detail
    assert mixed.wrong == played.wrong == {whole: "UNKNOWN"}
    named = played[whole].detail.removeprefix("2 of 3 rooms were not: ")
    assert {*named.split(", ")} == {f"{never} (0%)", f"{half} (50%)"}
    other, old = "it is of this service", "it is recent"
    assert elsewhere.wrong == {other: "UNKNOWN", old: "UNKNOWN", whole: "UNKNOWN"}
    assert "SANDBOX" in elsewhere[other].detail
