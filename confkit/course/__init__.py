"""The course: exercises that are checked, and what a client in another language is tried with.

from confkit import course
course.check("token", my_token)        # what is right, and which mistake a wrong answer was
course.vectors()                       # signatures to compare one's own with
course.open_questions()                # what to ask the provider

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

from .checking import Finding, check
from .material import ask, open_questions, picture, vectors

__all__ = ["Finding", "ask", "check", "open_questions", "picture", "vectors"]
