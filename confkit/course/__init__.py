"""The course: exercises that are checked, and how far a learner has come.

from confkit import course
course.check("token", my_token)        # what is right, and which mistake a wrong answer was
course.exercises()                     # all of them, with their questions
course.progress()                      # what is right, tried and not yet tried, in every notebook
course.contract()                      # what a client of one's own, in any language, has to do
course.check_client(["java", "Client"])  # which rows of the interface it gets right

To add an exercise: one code cell in a notebook, `my_name = None` and, as its last line,
`course.check("name", my_name)` (`..., client` where it looks at the sandbox); the question right
above it, under a heading "### 1. Title"; the solution right below it, in a python block inside
<details>: it binds `my_name` and needs nothing but what the notebook made before. Then a table in
`lessons.toml`: its notebook, the kind of answer that it takes, and where the answer is a value what
is right, with hints. Any other judge is a generator `judge(answer, client)` under the exercise's
name in `by_hand` or `in_sandbox`: it yields what is wrong, of which the first counts, and returns
what is said of a right answer. The answer is of its kind (a `Function` to be called, a room as A3
gives it, a text, ...); where a judge raises, the answer cannot be read. Nothing of it is quoted: it
may be a secret.
"""

from .checking import Finding, check, exercises
from .clients.checking import check_client
from .clients.rows import contract, skeleton, vectors
from .kept import Progress, progress
from .lessons import Exercise
from .material import ask, open_questions, picture

__all__ = [
    "Exercise",
    "Finding",
    "Progress",
    "ask",
    "check",
    "check_client",
    "contract",
    "exercises",
    "open_questions",
    "picture",
    "progress",
    "skeleton",
    "vectors",
]
