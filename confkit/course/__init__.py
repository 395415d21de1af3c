"""The course: exercises that are checked, and how far a learner has come.

from confkit import course
course.check("token", my_token)        # what is right, and which mistake a wrong answer was
course.exercises()                     # all of them, with their questions
course.progress()                      # what is right, tried and not yet tried, in every notebook
course.contract()                      # what a client of one's own, in any language, has to do
course.check_client(["java", "Client"])  # which rows of the interface it gets right

To add an exercise: write an `Exercise` into the module of its notebook under `lessons/` (its name,
the notebook's stem, the question, a judge, and the solution as the Python text that also stands
folded in the notebook), list it in that module's EXERCISES, and the module in `lessons/__init__`.
A judge is `judge(answer, client) -> Judged`, made by `yes(told)` or `no(told)`: it never sees None
or `...`, and may raise whatever a strange answer makes it raise (`check` says then that the answer
cannot be read as one); it quotes nothing of the answer, which may be a secret. `needs_client=True`
where it looks at the sandbox: `client.sandbox` is there then. A judge may call what the learner
wrote: a function is an answer too.

In the notebook an exercise is one code cell, `my_name = None` and `course.check("name", my_name)`
as its last line (`..., client)` where it needs one), and right below it a markdown cell with the
solution in a python block inside <details>. The solution binds `my_name`, stands on its own but
for what the notebook made before (`client`, `ck`), and is the same text in both places.

A module here never has the name of one of the functions: importing it would hide the function.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checking import check, exercises
    from .clients.checking import check_client
    from .clients.services import contract, skeleton
    from .clients.vectors import vectors
    from .pictures import picture
    from .provider import open_questions
    from .records import Exercise, Finding
    from .standing import Progress, progress

_LATER = {
    "checking": ("check", "exercises"),
    "clients.checking": ("check_client",),
    "clients.services": ("contract", "skeleton"),
    "clients.vectors": ("vectors",),
    "provider": ("open_questions",),
    "pictures": ("picture",),
    "records": ("Exercise", "Finding"),
    "standing": ("Progress", "progress"),
}

__all__ = [
    "Exercise", "Finding", "Progress", "check", "check_client", "contract", "exercises",
    "open_questions", "picture", "progress", "skeleton", "vectors",
]  # fmt: skip


if not TYPE_CHECKING:  # a type checker reads the imports above

    def __getattr__(name: str) -> object:
        for module, names in _LATER.items():
            if name in names:
                found = globals()[name] = getattr(import_module(f".{module}", __name__), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return list(__all__)
