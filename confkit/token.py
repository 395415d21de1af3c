"""One access token for all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING

from .errors import ConfkitError

if TYPE_CHECKING:
    from .masking import Secret
    from .signing import AccessToken


class SharedToken:
    """Calling it gives the token that `authenticate` made, which is asked once for all threads.

    `instead_of` is a token that was refused: unless another thread has replaced it already, a new
    one is made. Threads that wait for one authentication share its token, or its error: when the
    keys are wrong, a service that locks accounts out sees one attempt.
    """

    def __init__(
        self, authenticate: Callable[[], AccessToken], held: AccessToken | None = None
    ) -> None:
        self.held = held
        self._authenticate = authenticate
        self._lock = threading.Lock()
        self._attempts = 0
        self._refusal: ConfkitError | None = None

    def __call__(self, instead_of: str | None = None) -> AccessToken:
        """The token; the error of the authentication when there is none."""
        before = self._attempts
        # Compared by identity: a service may hand out the same text again.
        if self.held is not None and self.held is not instead_of:
            return self.held
        with self._lock:
            if self.held is not None and self.held is not instead_of:
                return self.held
            if self._attempts != before and self._refusal is not None:
                raise self._refusal.again()
            try:
                self.held, self._refusal = self._authenticate(), None
            except ConfkitError as error:
                self.held, self._refusal = None, error
                raise
            finally:
                self._attempts += 1
            return self.held


def future_token(
    token: Callable[[Secret | None], Secret],
    refused: Secret | None = None,
    pace: Callable[[], object] | None = None,
) -> Future[Secret]:
    """The token, or one in place of a refused one, asked for in a thread when its `pace` allows it:
    an authentication may take long, and who waits for it has other things to watch."""
    future: Future[Secret] = Future()

    def ask() -> None:
        try:
            if pace is not None:
                pace()
            future.set_result(token(refused))
        except BaseException as error:  # noqa: BLE001  # raised by who asks for the result
            future.set_exception(error)

    run = copy_context().run  # its span belongs beneath the caller's
    threading.Thread(target=run, args=(ask,), name="confkit token", daemon=True).start()
    return future
