import subprocess
import sys

from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

HANGING = """
import threading
from conversations.management.ending import end_within

end_within(0.1)
threading.Event().wait()
"""
WITHOUT_THREADS = """
import threading
from conversations.management.ending import end_within

threading.stack_size(2**46)
end_within(0.1)
"""


def test_a_process_that_hangs_is_ended():
    hanging = subprocess.run(
        [sys.executable, "-c", HANGING], cwd=PROJECT, timeout=PATIENCE_SECONDS, capture_output=True
    )
    assert hanging.returncode == 1
    assert b"still hangs" in hanging.stderr


def test_a_process_that_can_start_no_thread_goes_on_to_end():
    ending = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS], cwd=PROJECT, timeout=PATIENCE_SECONDS, capture_output=True
    )
    assert ending.returncode == 0
    assert b"can start no thread" in ending.stderr
