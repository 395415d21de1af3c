"""The course: answers that are checked, and what a client in another language is tried with.

from confkit import course
course.check("token", my_token)        # whether it is right, and if not, which mistake it was
course.picture("service")              # a drawing
course.vectors()                       # signatures to compare your own with
course.open_questions()                # what to ask the provider

Most exercises are asserts in the notebooks' own cells. To add one: a question under a heading
"### 1. Title", a code cell that begins with `my_name = None` and prints "right" once its asserts
hold, and below it the solution in a python block inside <details>. Where the diagnosis teaches,
the cell calls `course.check` instead; what is right, and the hints, are rows in `answers.toml`,
and `_JUDGES` in `checking.py` says how an answer is judged.
"""

from .checking import Feedback, check
from .material import open_questions, picture, vectors

__all__ = ["Feedback", "check", "open_questions", "picture", "vectors"]
