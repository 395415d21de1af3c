"""One access token for all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING

from .errors import ConfkitError

if TYPE_CHECKING:
    from .masking import Secret


class SharedToken:
    """Calling it gives the token that `authenticate` made, which is asked once for all threads.

    `instead_of` is a token that was refused: unless another thread has replaced it already, a new
    one is made. Threads that wait for one authentication share its token, or its error: when the
    keys are wrong, a service that locks accounts out sees one attempt.
    """

    def __init__(self, authenticate: Callable[[], Secret]) -> None:
        self.held: Secret | None = None
        self._authenticate = authenticate
        self._lock = threading.Lock()
        self._attempts = 0
        self._refusal: ConfkitError | None = None

    def __call__(self, instead_of: str | None = None) -> Secret:
        """The token; the error of the authentication when there is none."""
        before = self._attempts
        # Compared by identity: a service may hand out the same text again.
        if self.held is not None and self.held is not instead_of:
            return self.held
        with self._lock:
            if self.held is not None and self.held is not instead_of:
                return self.held
            if self._attempts != before and self._refusal is not None:
                raise copy(self._refusal)
            try:
                self.held, self._refusal = self._authenticate(), None
            except ConfkitError as error:
                self.held, self._refusal = None, error
                raise
            finally:
                self._attempts += 1
            return self.held
