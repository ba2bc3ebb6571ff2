"""A limit of processor time for work over hostile text."""

import time
from typing import Self


class CpuLimit:
    """So many seconds of the thread's processor time, for the work done in its `with` blocks together.

    A thread takes no more processor time than time passes. So until that is over the limit too, the system need not be
    asked for the thread's own time, which takes it ten times as long.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds_left = seconds
        self._started_at = self._cpu_started_at = 0.0

    def __enter__(self) -> Self:
        self._started_at, self._cpu_started_at = time.monotonic(), time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._seconds_left -= time.thread_time() - self._cpu_started_at

    def is_exceeded(self) -> bool:
        """Tell whether the work has taken longer; to be asked in the `with` block."""
        left = self._seconds_left
        return time.monotonic() - self._started_at > left and time.thread_time() - self._cpu_started_at > left
