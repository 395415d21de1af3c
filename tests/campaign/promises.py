"""One expired token costs one authentication; read_only sends nothing; errors say what to do."""

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pandas as pd

import confkit as ck
from confkit.codes import lookup
from confkit.endpoints import A1, ENDPOINTS
from confkit.sandbox import Sandbox

from .frame import Part, Piece

TOKEN_AGE = 10 * 24 * 3600  # seconds that a token surely does not outlive
SURE = {"specified", "seen", "assumed", "unknown"}
CAMERA = "rtsp://192.0.2.7:554/stream1"


def expiries(piece: Piece) -> Counter[str]:
    """Tokens that expire while many threads use them, and the A1 calls that each one costs."""
    counts: Counter[str] = Counter()
    with Sandbox(seed=piece.seed) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Weekly sync", "ops")
        for number in range(piece.size):
            chance = piece.chance(str(number))
            threads = chance.randint(2, 64)
            gate, before = threading.Barrier(threads), sandbox.count(A1.path)
            sandbox.advance(TOKEN_AGE)

            def read(late: float, gate: threading.Barrier = gate) -> str | None:
                gate.wait()
                threading.Event().wait(late)
                return ck.get_room(client, room_id).topic

            with ThreadPoolExecutor(threads) as pool:
                late = [chance.choice([0, 0, 0.01 * chance.random()]) for _ in range(threads)]
                read_right = sum(topic == "Weekly sync" for topic in pool.map(read, late))
            counts["expired tokens"] += 1
            counts["threads that met one"] += threads
            counts["reads that failed"] += threads - read_right
            more = sandbox.count(A1.path) - before - 1
            counts["authentications too many"] += more
            if more or read_right < threads:
                piece.broke(
                    f"token {number}, {threads} threads: {read_right} read, {more} too many"
                )
    return counts


def changes(chance: random.Random, folder: str) -> list:
    """Every way to change something, with arguments good and bad, in an order of chance."""
    text = chance.choice(["1", "", "x" * 200, "../", "0000"])
    device = ck.Device(text, "cam", "Door", CAMERA)
    table = pd.DataFrame({"room_id": [text], "user_id": ["cam"], "user_name": ["Door"],
                          "user_address": [CAMERA]})  # fmt: skip
    ways = [
        lambda client: ck.create_room(client, text, "ops"),
        lambda client: ck.create_room(client, "t", text, room_mode=chance.choice([1, 2, 99])),
        lambda client: ck.delete_room(client, text),
        lambda client: ck.force_offline(client, text, "ada"),
        lambda client: ck.import_device(client, text, "cam", "Door", CAMERA),
        lambda client: ck.import_device(client, text, "cam", "Door", CAMERA, preflight=True),
        lambda client: ck.import_device(client, text, "cam", "Door", "nonsense", verify=True),
        lambda client: ck.remove_device(client, text, "cam"),
        lambda client: ck.remove_device(client, text, "cam", CAMERA),
        lambda client: ck.reimport_device(client, device),
        lambda client: ck.import_devices(client, table),
        lambda client: ck.import_devices(client, f"{folder}/nowhere.csv"),
        lambda client: ck.remove_devices(client, ck.devices_frame([device], secrets=True)),
        *(lambda client, one=one: client.send(ck.Request(one, dict.fromkeys(one.required, "1")))
          for one in ENDPOINTS.values() if one.write),
        *(lambda client, one=one: client.send_many(
            [ck.Request(one, dict.fromkeys(one.required, "1"))] * 3)
          for one in ENDPOINTS.values() if one.write),
    ]  # fmt: skip
    return chance.sample(ways, len(ways))


def refusals(piece: Piece) -> Counter[str]:
    """Changes that a read-only client is asked for, and what reaches the service of them."""
    counts: Counter[str] = Counter()
    with Sandbox(seed=piece.seed) as sandbox, sandbox.connect(read_only=True) as client:
        for number in range(piece.size):
            chance = piece.chance(str(number))
            for change in changes(chance, str(piece.folder)):
                before, refused = sandbox.count(), True
                try:
                    change(client)
                except ck.ReadOnlyError:
                    pass
                except ValueError:  # of `send_many`, which takes no changes from any client
                    counts["changes that nobody may send so"] += 1
                else:
                    counts["changes that were not refused"] += 1
                    refused = False
                counts["changes"] += 1
                sent = sandbox.count() - before
                counts["requests sent"] += sent
                if sent or not refused:
                    piece.broke(f"change {number}, {change}: {sent} sent, refused: {refused}")
    return counts


def failures(piece: Piece) -> Counter[str]:
    """Result codes known and unknown at every operation, and what the error says about each.

    What is to go is there, and what is to come is not: a look after a change that a code leaves
    open therefore never finds it done.
    """
    counts: Counter[str] = Counter()
    codes = [code for code in range(1, 1000) if lookup(code, "A") or lookup(code, "B")]
    with Sandbox(seed=piece.seed) as sandbox, sandbox.connect(sleep=lambda _: None) as client:
        camera, room = sandbox.camera(), ck.create_room(client, "Weekly sync", "ops")
        ada = sandbox.join(room, "Ada")
        ck.import_device(client, room, "cam", "Door", camera)
        calls = {
            "A2": lambda: ck.create_room(client, "t", "ops"),
            "A3": lambda: ck.get_room(client, room),
            "A4": lambda: ck.delete_room(client, room),
            "A5": lambda: ck.get_mcu(client, room),
            "A6": lambda: ck.get_room_users(client, room),
            "A7": lambda: ck.force_offline(client, room, ada),
            "B1": lambda: ck.import_device(client, room, "new", "Door", CAMERA),
            "B2": lambda: ck.remove_device(client, room, "cam", camera),
            "B3": lambda: ck.list_devices(client),
        }
        chance = piece.chance()
        for _ in range(piece.size):
            ret = chance.choice([*codes, chance.randint(1, 10**6), -chance.randint(1, 999)])
            key, call = chance.choice(list(calls.items()))
            sandbox.clear_faults()
            sandbox.fault(ENDPOINTS[key].path, ret=ret, times=None)
            counts["failures"] += 1
            try:
                call()
            except ck.ConfkitError as error:
                wrong = told_badly(error, ret, ENDPOINTS[key].interface)
            else:
                wrong = ["failures taken for success"]
            counts.update(wrong)
            if wrong:
                piece.broke(f"{key} answered {ret}: {', '.join(wrong)}")
    return counts


def told_badly(error: ck.ConfkitError, ret: int, interface: str) -> list[str]:
    """What the error for a result code leaves out, by the names that are counted."""
    told, text = ck.explain(ret, interface), str(error)
    return [name for name, wrong in {
        "without a cause": told.meaning not in text or not told.cause,
        "without a next step": not error.advice or error.advice not in text,
        "not saying how sure": told.sure not in SURE,
        "without the code that came": str(ret) not in text,
    }.items() if wrong]  # fmt: skip


PARTS = (
    Part("expired-tokens", "An expired token costs one new authentication, however many threads "
         "meet it.", "expired tokens", expiries, 10, 100, 8,
         ("authentications too many", "reads that failed")),
    Part("read-only", "With read_only=True nothing that changes the service is sent.", "changes",
         refusals, 10, 50, 3, ("requests sent", "changes that were not refused")),
    Part("failures-told", "Every result code becomes an error that names its cause and the next "
         "step, and says how sure that is.", "failures", failures, 10, 2000, 300,
         ("without a cause", "without a next step", "not saying how sure",
          "without the code that came", "failures taken for success")),
)  # fmt: skip
