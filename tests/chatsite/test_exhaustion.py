from __future__ import annotations

import errno
import os
import threading

import pytest

from chatsite.health.exhaustion import EXHAUSTED, exhaustion_of, find_exhaustion
from conversations.core.errors import ProviderUnavailable, StreamBroken, WorkerExhausted
from conversations.providers.openai_api.provider_connection import to_completion_error


def caused_by(cause: BaseException) -> Exception:
    """Return an error two steps above *cause*, as clients wrap what the system says."""
    try:
        try:
            raise ConnectionError("can't connect") from cause
        except ConnectionError as error:
            raise OSError("no connection") from error
    except OSError as error:
        return error


@pytest.mark.parametrize("number", sorted(EXHAUSTED))
def test_what_was_lacking_is_found_among_the_causes(number):
    lacking = OSError(number, os.strerror(number))
    assert exhaustion_of(caused_by(lacking)) == os.strerror(number)
    assert exhaustion_of(caused_by(ExceptionGroup("several addresses", [OSError("refused"), lacking]))) == os.strerror(
        number
    )


def test_a_thread_may_be_lacking():
    size_before = threading.stack_size(2**46)  # larger than any memory
    try:
        with pytest.raises(RuntimeError) as failure:
            threading.Thread(target=print).start()
    finally:
        threading.stack_size(size_before)
    assert exhaustion_of(caused_by(failure.value)) == "can't start new thread"


def test_another_fault_lacks_nothing():
    assert exhaustion_of(RuntimeError("a bug")) == ""
    assert exhaustion_of(caused_by(ConnectionRefusedError(errno.ECONNREFUSED, "refused"))) == ""
    assert find_exhaustion() == ""


def test_causes_in_a_circle_come_to_an_end():
    first, second = OSError("first"), OSError("second")
    first.__cause__, second.__cause__ = second, first
    assert exhaustion_of(first) == ""


def test_a_request_that_could_not_be_sent_for_it_is_told_apart():
    error = caused_by(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
    exhausted = to_completion_error(error)
    assert (type(exhausted), exhausted.detail) == (WorkerExhausted, "Too many open files")
    assert type(to_completion_error(error, in_stream=True)) is StreamBroken
    assert type(to_completion_error(caused_by(OSError(errno.EHOSTUNREACH, "no route")))) is ProviderUnavailable
