"""Errors of a panel's methods stand in the panel, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from .panel import Panel

Method = TypeVar("Method", bound=Callable[..., Any])


def told(method: Method) -> Method:
    """The method of a panel, which tells its error before it is raised, wherever it arises:
    `working` tells only what goes wrong inside it."""

    @wraps(method)
    def telling(panel: Panel, *given: Any, **named: Any) -> Any:
        try:
            return method(panel, *given, **named)
        except BaseException as error:
            panel.fails(error)
            raise

    return cast(Method, telling)
