"""Whether the process of a name is gone: told at once of one that was killed, and never of one that is alive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from conversations.runs import process_name
from conversations.runs.process_name import is_gone, name_process
from tests.support.patience import wait_for

PROGRAM = """
from conversations.runs.process_name import name_process
print(name_process(), flush=True)
input()
"""


@pytest.fixture
def other():
    """Another process of this machine, with its name."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_process_that_was_killed_is_gone_before_its_parent_has_asked(other):
    process, name = other
    assert not is_gone(name)
    process.kill()
    wait_for(lambda: is_gone(name), "its state says so")
    process.wait()
    assert is_gone(name)


def test_a_process_that_stands_still_is_not_gone(other):
    process, name = other
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    assert not is_gone(name)


def test_a_process_that_is_hidden_is_not_gone(other, monkeypatch):
    """As with systemd's `ProtectProc=invisible`: only a signal tells."""
    process, name = other
    name_process()
    monkeypatch.setattr(process_name, "_state_and_start", lambda pid: None)
    assert not is_gone(name)
    process.kill()
    process.wait()
    assert is_gone(name)


def test_another_process_with_the_same_number_is_another():
    name = name_process()
    host, pid, made = name.rsplit(":", 2)
    machine, start, number = made.split("-")
    assert not is_gone(name)
    assert is_gone(f"{host}:{pid}:{machine}-{int(start, 16) - 1:x}-{number}")


@pytest.mark.parametrize("made", ["{other}-{start}-{number}", "-{start}-{number}", "{machine}--{number}", "{number}"])
def test_of_another_machine_and_of_an_unknown_one_it_is_not_known(other, made):
    process, name = other
    host, pid, parts = name.rsplit(":", 2)
    machine, start, number = parts.split("-")
    process.kill()
    process.wait()
    assert is_gone(name)
    named = made.format(other="00000000", machine=machine, start=start, number=number)
    assert not is_gone(f"{host}:{pid}:{named}")


@pytest.mark.parametrize("name", ["", "dead", "a:b:c", "host:12:abcdef01", "host:x:a-b-c", "h:1:a-b-c-d"])
def test_names_of_another_form_are_not_known(name):
    assert not is_gone(name)


def test_a_name_fits_its_column(monkeypatch):
    monkeypatch.setattr(process_name.socket, "gethostname", lambda: "h" * 64)
    monkeypatch.setattr(process_name, "_state_and_start", lambda pid: ("S", "123456789"))
    assert len(name_process()) <= 100 - len(str(2**22)) + len(str(os.getpid()))
