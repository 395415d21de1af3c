"""What the simulated rooms and people are called."""

from collections.abc import Iterator
from itertools import count

_TEAMS = (
    "Payments", "Platform", "Mobile apps", "Customer support", "Sales North", "Finance", "Legal",
    "People and culture", "Data warehouse", "Security", "Facilities", "Procurement", "Marketing",
    "Équipe produit", "Quality assurance", "Vertrieb Süd", "Field service", "東京オフィス",
    "Board office", "Research", "Logistics", "Клиентский отдел", "Training", "Site reliability",
    "Partner programme",
)  # fmt: skip
_FORMS = (
    "weekly", "stand-up", "planning", "project room", "review", "one-to-ones", "all hands",
    "workshop", "interviews", "incident room", "open hour", "retrospective",
)  # fmt: skip
_GIVEN = (
    "Ada", "Noor", "Mateo", "Ingrid", "Kofi", "Mei", "Luca", "Zofia", "Amir", "Chloé", "Hana",
    "Tariq", "Olga", "Diego", "Priya", "Sven", "Yuki", "Leila", "Tomás", "Grace", "Omar", "Freya",
    "Jan",
)  # fmt: skip
_FAMILY = (
    "Adeyemi", "Berg", "Castillo", "Dubois", "Eriksen", "Fischer", "García", "Haddad", "Ito",
    "Jansen", "Kaya", "Lindholm", "Moreau", "Nowak", "Okafor", "Petrov", "Quispe", "Rossi", "Sato",
    "Tanaka", "Usman", "Virtanen", "Wang", "Yilmaz", "Zhang", "Ó Briain", "Silva", "Novák", "Khan",
)  # fmt: skip


def topics() -> Iterator[str]:
    """Topics of rooms, without end and none twice; neighbours are of different teams."""
    for turn in count(1):
        for step in range(len(_FORMS)):
            for place, team in enumerate(_TEAMS):
                form = _FORMS[(place + step) % len(_FORMS)]
                yield f"{team} {form}" if turn == 1 else f"{team} {form} {turn}"


def person(room: int, seat: int) -> str:
    """The name of the one who has this seat in the room."""
    number = 31 * room + seat  # neither list's length divides the other's: 667 names in turn
    return f"{_GIVEN[number % len(_GIVEN)]} {_FAMILY[number % len(_FAMILY)]}"
