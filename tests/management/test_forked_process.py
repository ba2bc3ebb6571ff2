"""A part of a command in a process that is forked for it. Each test has a process of its own that forks."""

import signal
import subprocess
import sys

import psutil
import pytest

from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.source import PROJECT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
BEGIN = """
import os, signal, sys
os.environ |= {"DJANGO_SETTINGS_MODULE": "chatsite.settings", "ENV_FILE": os.devnull}
from conversations.management.forked_process import forked
signal.signal(signal.SIGINT, signal.default_int_handler)  # what began in a shell's background ignores it
"""


def start(code):
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + code], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(code):
    """Return its exit status, and what it wrote to standard output and standard error."""
    process = start(code)
    said, errors = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, said, errors


def test_what_it_loads_and_changes_ends_with_it():
    code = """
changed = []
def work():
    import wave
    changed.append(1)
    print("worked")
with forked(work):
    print("beside it")
print(changed, "wave" in sys.modules)
"""
    status, said, errors = run(code)
    assert (status, errors) == (0, "")
    assert sorted(said.splitlines()[:2]) == ["beside it", "worked"]
    assert said.splitlines()[2:] == ["[] False"]


def test_what_was_written_before_is_written_once():
    assert run("print('before', end='')\nwith forked(lambda: print('within')):\n    pass") == (0, "beforewithin\n", "")


def test_its_error_is_said_once_and_ends_the_command():
    code = """
def work():
    sys.exit("It does not work.")
with forked(work):
    raise RuntimeError("of what it would have said itself")
print("not reached")
"""
    assert run(code) == (1, "", "It does not work.\n")


def test_an_error_beside_it_is_raised():
    status, said, errors = run("with forked(lambda: print('worked')):\n    raise ValueError('beside')")
    assert (status, said) == (1, "worked\n")
    assert errors.endswith("ValueError: beside\n")


def test_one_that_was_killed_ends_the_command_as_a_shell_says_it():
    status, _, _ = run("with forked(lambda: os.kill(os.getpid(), signal.SIGKILL)):\n    pass")
    assert status == 128 + signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_the_command(number):
    code = """
def work():
    print(os.getpid(), flush=True)
    while True:
        signal.pause()
with forked(work):
    pass
"""
    with start(code) as process:
        forked = psutil.Process(int(process.stdout.readline()))
        try:
            process.send_signal(number)
            assert process.wait(PATIENCE_SECONDS) != 0
            wait_for(lambda: not forked.is_running() or forked.status() == psutil.STATUS_ZOMBIE, "it has ended")
        finally:
            process.kill()
