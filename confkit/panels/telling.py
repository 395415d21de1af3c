"""Errors of a panel's methods stand in the panel, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from .panel import Panel

Method = TypeVar("Method", bound=Callable[..., Any])


def told(kind: str) -> Callable[[Method], Method]:
    """The method of a panel, which tells its error, as a message of this kind, before it is raised,
    wherever it arises: `working` tells only what goes wrong inside it."""

    def telling(method: Method) -> Method:
        @wraps(method)
        def tells(panel: Panel, *given: Any, **named: Any) -> Any:
            with panel.telling(kind):
                return method(panel, *given, **named)

        return cast(Method, tells)

    return telling
