"""A service whose every text is hostile."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import confkit as ck
from confkit.operations import OPERATIONS
from tests.scripted import Scripted, scripted
from tests.secrets.given import Drive, driven
from tests.secrets.marks import Marks
from tests.secrets.worlds import World

from .looking import wrong

Answer = Callable[[dict[str, str]], dict[str, Any]]


def script(texts: Sequence[str]) -> dict[str, object]:
    """Answers in which each room is called one of these texts, and everything in it another."""
    following = dict(zip(texts, [*texts[1:], *texts[:1]], strict=True))
    caps = {"attendee_max": "3", "max_audio": "", "max_video": ""}

    def of_room(told: Callable[[str], dict[str, Any]]) -> Answer:
        def answer(query: dict[str, str]) -> dict[str, Any]:
            name = following.get(query.get("room_id", ""))
            return {"ret": 404, "msg": texts[0]} if name is None else {"ret": 0, **told(name)}

        return answer

    def room(query: dict[str, str]) -> dict[str, Any]:
        numbers = {"id": 1, "room_status": 1, "room_mode": 1, **caps}
        named = of_room(lambda name: dict.fromkeys(["topic", "owner_id", "room_extend_id"], name))
        return {"room_id": query.get("room_id"), **numbers, **named(query)}

    def devices(query: dict[str, str]) -> dict[str, Any]:
        items = [
            {
                **dict.fromkeys(["userId", "userName"], following.get(room_id, "d")),
                "userAddress": f"sip://{quote(following.get(room_id, 'd'))}@127.0.0.1/",
                **dict.fromkeys(["roomId", "userData"], room_id),
                "options": {"login_name": room_id},
            }
            for room_id in ([query["roomId"]] if query.get("roomId") else texts)
        ]
        return {"ret": 0, "data": {"total": len(items), "items": items}}

    answers = {
        "A2": {"ret": 700, "msg": texts[0], "err": texts[-1]},
        "A3": room,
        "A4": {"ret": texts[0], "msg": texts[-1]},
        "A5": of_room(lambda name: {"addr": name}),
        "A6": of_room(lambda name: {"user_list": [{"user_name": name, "user_id": name}]}),
        "A7": {"ret": 417, "msg": texts[0]},
        "B3": devices,
    }
    return {OPERATIONS[key].path: answer for key, answer in answers.items()}


@contextmanager
def hostile(texts: Sequence[str]) -> Iterator[tuple[ck.Client, Scripted]]:
    """A client of such a service, with the service."""
    with scripted(script(list(texts))) as service, service.client() as client:
        yield client, service


class Named(World):
    """A world in which everything is called so, and no text acts."""

    def shown(self, text: str, read: str = "raw") -> list[str]:
        """What acts in a text that is read in this way."""
        return wrong(text, read)


def acting(
    client: ck.Client, ids: Sequence[str], folder: Path, drives: Mapping[str, Drive]
) -> dict[str, object]:
    """What acts of all that shows when this is done with a service whose rooms are called so."""
    chance = random.Random(7)
    address = "rtsp://127.0.0.1:9/a"
    return driven(Named("texts", Marks(chance), client, folder, chance, address, ids), drives)
