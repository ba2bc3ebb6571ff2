"""The time that a reply which calls tools may take in all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings


@dataclass(slots=True)
class ToolTime:
    """How long the language model and the tools have been at work for one reply, before it had to wait and since.

    While a person is waited for, it stands still: what was used until then is kept with the run.
    """

    used_before_seconds: float = 0.0
    clock: Callable[[], float] = time.monotonic
    began: float | None = None

    def begin(self, clock: Callable[[], float]) -> None:
        self.clock, self.began = clock, clock()

    @property
    def used_seconds(self) -> float:
        return self.used_before_seconds + (self.clock() - self.began if self.began is not None else 0.0)

    @property
    def left_seconds(self) -> float:
        return max(0.0, settings.TOOL_SECONDS - self.used_seconds)
