"""A limit of processor time for work over hostile text."""

import time


class CpuLimit:
    """So many seconds of the thread's processor time, for all work between `start` and `stop`.

    A thread takes no more processor time than time passes. So until that is over the limit too, the system need not be
    asked for the thread's own time, which takes it ten times as long.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds_left = seconds
        self._is_running = False
        self._started_at = self._cpu_started_at = 0.0

    def start(self) -> None:
        """Begin to count, unless it has begun."""
        if not self._is_running:
            self._is_running = True
            self._started_at, self._cpu_started_at = time.monotonic(), time.thread_time()

    def stop(self) -> None:
        """End what has begun, in the same thread."""
        if self._is_running:
            self._is_running = False
            self._seconds_left -= time.thread_time() - self._cpu_started_at

    def is_exceeded(self) -> bool:
        """Tell whether the work has taken longer so far."""
        left = self._seconds_left
        if not self._is_running:
            return left < 0
        return time.monotonic() - self._started_at > left and time.thread_time() - self._cpu_started_at > left
