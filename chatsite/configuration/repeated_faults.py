"""Sum up repeated errors of database and Redis in the log: one line for each kind in ten seconds, no traceback.

So are those of a process that has no file descriptor or thread left. While the database is away every reply, duty and
page fails again and again, and psycopg's pool says each attempt to connect. On a disk that is full that hurts. What was
left out is counted: `repeated` of the next line of its kind, or of one that is written when the ten seconds are over.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

from chatsite.health.exhaustion import exhaustion_of
from chatsite.postgres.faults import is_passing_fault

SUMMED_UP_SECONDS = 10.0
MOST_KINDS = 1_000  # that are remembered; no site has as many
POOL_LOGGER = "psycopg.pool"
REDIS_LOGGER = "channels_redis"  # which says each second that it can't receive

Kind = tuple[str, int, str]


@dataclass(slots=True)
class _Repeated:
    """The lines of one kind since the last that was written, and that one."""

    last: logging.LogRecord
    written_at: float
    count: int = 0
    timer: threading.Timer | None = field(default=None)


class RepeatedFaults(logging.Filter):
    """Lets one line of each kind through in `SUMMED_UP_SECONDS`; other lines are not touched."""

    def __init__(self, summed_up_seconds: float = SUMMED_UP_SECONDS) -> None:
        super().__init__()
        self._seconds = summed_up_seconds
        self._lock = threading.Lock()
        self._kinds: dict[Kind, _Repeated] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "is_sum", False) or not _shorten(record):
            return True
        kind = (record.name, record.levelno, str(record.msg))
        with self._lock:
            known = self._kinds.get(kind)
            if known is None or time.monotonic() - known.written_at >= self._seconds:
                if known and known.count:
                    record.repeated = known.count
                if known and known.timer:
                    known.timer.cancel()
                if len(self._kinds) >= MOST_KINDS:
                    self._kinds.clear()
                self._kinds[kind] = _Repeated(record, time.monotonic())
                return True
            known.last, known.count = record, known.count + 1
            if known.timer is None:
                known.timer = self._start_timer(kind, known)
            return False

    def _start_timer(self, kind: Kind, known: _Repeated) -> threading.Timer | None:
        """Return the timer that writes the sum; None where the process has no thread left, so that the next line does.

        A filter that raised would end whatever wanted to say that something failed.
        """
        timer = threading.Timer(self._seconds, self._write_sum, (kind, known))
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:
            return None
        return timer

    def _write_sum(self, kind: Kind, known: _Repeated) -> None:
        """Write the last line of a kind with the number of those that were left out, itself among them."""
        with self._lock:
            if self._kinds.get(kind) is not known or not known.count:
                return
            record = known.last
            record.repeated, record.is_sum = known.count, True
            self._kinds[kind] = _Repeated(record, time.monotonic())
        logging.getLogger(record.name).handle(record)


def _shorten(record: logging.LogRecord) -> bool:
    """Let a line about a fault of these say the fault's first line in place of a traceback; False for other lines."""
    if record.name.startswith(POOL_LOGGER):
        return True
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return False
    if not (is_passing_fault(error) or exhaustion_of(error) or record.name.startswith(REDIS_LOGGER)):
        return False
    reason = (str(error).strip().splitlines() or [""])[0]
    record.fault = f"{type(error).__name__}: {reason}"[:300]
    record.exc_info = record.exc_text = None
    return True
