"""A probe: a check that runs in a thread of its own, at most once at a time, and is waited for only so long.

What it asks may never answer: a paused server, a connection that a firewall has forgotten. The thread then stays where
it is until that ends, and all who ask meanwhile are told that there is no answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal

logger = logging.getLogger(__name__)

NO_THREAD_REASON = "this process can start no thread"
FRESH_SECONDS = 1.0  # for so long a finding is not looked for again
State = Literal["ok", "degraded", "down"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe found. *reason* is a sentence without its full stop, for operators; empty if all is well."""

    state: State
    reason: str = ""


OK = Finding("ok")


class Probe:
    """The check *look* under the name *name*; *silence* is what is found while it does not answer.

    *give_up* is called, once in each look, when someone has waited in vain: it may end what the thread waits for.
    """

    def __init__(
        self, name: str, look: Callable[[], Finding], *, silence: Finding, give_up: Callable[[], None] = lambda: None
    ) -> None:
        self.name, self.silence = name, silence
        self._look, self._give_up = look, give_up
        self._lock = threading.Lock()
        self._running: Future[Finding] | None = None
        self._is_given_up = False
        self._found: Finding | None = None
        self._found_at = 0.0

    def fresh(self) -> Probe:
        """Return the same probe, which has found nothing yet."""
        return Probe(self.name, self._look, silence=self.silence, give_up=self._give_up)

    def start(self) -> Future[Finding]:
        """Return the finding, or that of the look that is under way, or begin to look."""
        with self._lock:
            if self._running is not None:
                return self._running
            future: Future[Finding] = Future()
            if self._found and time.monotonic() - self._found_at < FRESH_SECONDS:
                future.set_result(self._found)
                return future
            self._running, self._is_given_up = future, False
        try:
            threading.Thread(target=self._run, args=(future,), name=f"{self.name} probe", daemon=True).start()
        except RuntimeError:  # this process, or its container, has no thread left
            logger.exception("the %s probe could not be started", self.name)
            self._end(future, Finding(self.silence.state, NO_THREAD_REASON))
        return future

    def result_of(self, future: Future[Finding]) -> Finding:
        """Return what is found by now: the probe's silence where *future* has no result yet."""
        if future.done():
            return future.result()
        with self._lock:
            is_first = not self._is_given_up and self._running is future
            self._is_given_up = True
        if is_first:
            self._give_up()
        return self.silence

    def latest(self) -> Finding:
        """Return what was found last, without waiting, and begin to look again if that is old."""
        future = self.start()
        return future.result() if future.done() else self._found or OK

    def _run(self, future: Future[Finding]) -> None:
        try:
            found = self._look()
        except Exception:
            logger.exception("the %s probe failed", self.name)
            found = self.silence
        self._end(future, found)

    def _end(self, future: Future[Finding], found: Finding) -> None:
        with self._lock:
            self._found = self.silence if self._is_given_up else found
            self._found_at, self._running = time.monotonic(), None
        future.set_result(found)
