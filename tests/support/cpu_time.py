"""How long something takes, as the processor counts it: what else a busy machine does is left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cpu_time_under(seconds: float) -> Iterator[None]:
    """Fail what keeps this thread busy for longer. Leave it ten times what is usual, for slow machines."""
    began = time.thread_time()
    yield
    spent = time.thread_time() - began
    assert spent < seconds, f"it took {spent:.1f} s of the processor"
