import logging
import threading

import pytest
from django.db import OperationalError

from chatsite.configuration.repeated_faults import RepeatedFaults
from tests.support.patience import wait_for

LARGER_THAN_ANY_MEMORY = 2**46


class Lines(logging.Handler):
    """Keeps what would be written."""

    def __init__(self, *, summed_up_seconds):
        super().__init__()
        self.addFilter(RepeatedFaults(summed_up_seconds))
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.fixture
def lines_of():
    """A function that lets a logger write only to new `Lines`."""
    changed = []

    def make(name, *, summed_up_seconds=1_000.0):
        logger, lines = logging.getLogger(name), Lines(summed_up_seconds=summed_up_seconds)
        changed.append((logger, lines, logger.propagate))
        logger.addHandler(lines)
        logger.propagate = False
        return logger, lines

    yield make
    for logger, lines, propagate in changed:
        logger.removeHandler(lines)
        logger.propagate = propagate


def fail(logger, message, error, *arguments):
    try:
        raise error
    except type(error):
        logger.warning(message, *arguments, exc_info=True)


def test_a_fault_that_is_repeated_is_one_line_without_a_traceback(lines_of):
    logger, lines = lines_of("conversations.runs.tested")
    for reply in range(20):
        fail(logger, "reply %d could not be saved", OperationalError("the connection\nis lost"), reply)
    [line] = lines.records
    assert (line.fault, line.exc_info) == ("OperationalError: the connection", None)


def test_faults_of_two_kinds_are_two_lines(lines_of):
    logger, lines = lines_of("conversations.runs.tested")
    for message in ("could not claim", "could not save") * 2:
        fail(logger, message, OperationalError("lost"))
    assert len(lines.records) == 2


def test_each_other_error_is_written_with_its_traceback(lines_of):
    logger, lines = lines_of("conversations.runs.tested")
    for _ in range(3):
        fail(logger, "a duty failed", ValueError("a bug"))
    assert len(lines.records) == 3
    assert all(line.exc_info for line in lines.records)


def test_the_pools_words_about_each_attempt_are_summed_up(lines_of):
    logger, lines = lines_of("psycopg.pool")
    for _ in range(5):
        logger.warning("error connecting in %r: %s", "pool-1", "refused")
    assert len(lines.records) == 1


def test_what_was_left_out_is_counted_in_the_end(lines_of):
    logger, lines = lines_of("conversations.runs.tested", summed_up_seconds=0.05)
    for _ in range(4):
        fail(logger, "could not save", OperationalError("lost"))
    wait_for(lambda: sum(getattr(line, "repeated", 1) for line in lines.records) == 4, "all four are told of")
    assert len(lines.records) < 4


def test_what_redis_does_not_answer_is_one_line_without_a_traceback(lines_of):
    logger, lines = lines_of("channels_redis.pubsub")
    for _ in range(20):
        fail(logger, "Unexpected exception in receive task", ConnectionError("LOADING the dataset"))
    [line] = lines.records
    assert (line.fault, line.exc_info) == ("ConnectionError: LOADING the dataset", None)


def test_a_process_without_threads_goes_on_and_counts_in_the_next_line(lines_of):
    logger, lines = lines_of("conversations.runs.tested", summed_up_seconds=0.05)
    size_before = threading.stack_size(LARGER_THAN_ANY_MEMORY)  # no thread can be started
    try:
        for _ in range(4):
            fail(logger, "could not save", OperationalError("lost"))
        wait_for(lambda: fail(logger, "could not save", OperationalError("lost")) or len(lines.records) == 2)
    finally:
        threading.stack_size(size_before)
    assert lines.records[1].repeated >= 3
