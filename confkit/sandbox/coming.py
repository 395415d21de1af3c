"""People who come to simulated rooms and leave them, in real time."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from ..errors import RoomNotFound, UserNotFound
from .meetings import Stays, week, week_of
from .service.identity import Ids
from .service.state import RoomJoinRefused, Service
from .simulation import Plan, name

log = logging.getLogger("confkit.sandbox")


async def come_and_go(
    service: Service, planned: Plan, room_ids: list[str], users: dict[int, str], speed: float,
    ids: Ids,
) -> None:  # fmt: skip
    """Goes on from the plan's `until`, at `speed` simulated minutes a second, without end.

    `users` are those who are in the rooms, by their place among the week's stays. Who is refused
    goes away; who was put off or whose room is gone has left already."""
    clock = asyncio.get_running_loop().time
    began, until = clock(), planned.until / 1000
    number, stays = week_of(planned.house, until), planned.now
    try:
        while True:
            for moment, leaves, place in _events(stays, until):
                wait = (moment - until) / (60 * speed) - (clock() - began)
                await asyncio.sleep(max(0, wait))  # requests have their turn even at wait 0
                room_id = room_ids[stays.room[place]]
                if not leaves:
                    with suppress(RoomJoinRefused):
                        users[place] = service.join(
                            room_id, name(stays, place), None, ids.user_id()
                        )
                elif place in users:
                    with suppress(RoomNotFound, UserNotFound):
                        service.leave(room_id, users.pop(place))
            number += 1
            # Nobody stays beyond the end of a week.
            stays, users = (await asyncio.to_thread(week, planned.house, number)).stays, {}
    except Exception as error:  # noqa: BLE001  # nobody waits for this to end
        log.error("the simulation of %d rooms ended: %s", len(room_ids), error)


def _events(stays: Stays, after: float) -> Iterator[tuple[int, bool, int]]:
    """Moment, whether somebody leaves, and who, after this moment and in the order of time; at one
    moment places are free before they are taken."""
    moments = np.concatenate([stays.leave, stays.join])
    order = np.argsort(moments, kind="stable")
    order = order[moments[order] > after]
    count = len(stays.leave)
    leaves, place = order < count, order % max(count, 1)
    return zip(moments[order].tolist(), leaves.tolist(), place.tolist(), strict=True)
