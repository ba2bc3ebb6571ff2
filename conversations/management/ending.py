"""End the process in time, whatever still hangs in it once it was told to stop."""

from __future__ import annotations

import logging
import os
import threading

# After the drain: for interrupted replies to be stored, connections to be closed and threads to end.
ENDING_SECONDS = 12.0
logger = logging.getLogger(__name__)


def end_within(seconds: float) -> None:
    """End the process in so many seconds unless it has ended by itself. Leases tell other workers what it left."""
    timer = threading.Timer(seconds, _end_now, (seconds,))
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:  # no thread is left; that must not keep replies from ending
        logger.warning("nothing will end the process if it hangs: it can start no thread")


def _end_now(seconds: float) -> None:
    logger.error("the process is ended: something in it still hangs", extra={"seconds": seconds})
    logging.shutdown()
    os._exit(1)
