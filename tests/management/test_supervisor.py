"""The main process of several, with children that end as the tests want it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time

import pytest
import uvloop

from conversations.management import supervisor
from conversations.management.supervisor import GaveUp, Program, Supervisor
from tests.support.patience import PATIENCE_SECONDS

READY = "import os, signal, sys, time\nline = int(sys.argv[1].partition('=')[2])\nos.write(line, b'1')\n"
PATIENT = f"{READY}time.sleep({PATIENCE_SECONDS})"
STUBBORN = READY.replace("os.write", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.write") + PATIENT[len(READY) :]
NEVER_READY = f"import time\ntime.sleep({PATIENCE_SECONDS})"


def child(program: str, name: str = "The child") -> Program:
    return Program(name, (sys.executable, "-S", "-c", program))


class Told:
    """What the supervisor has said, and whose ends it has told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.forgotten: list[int] = []


def supervise(*programs: str, when_ready=lambda: None, ending_seconds: float = PATIENCE_SECONDS) -> Told:
    """Run the supervisor in this process until it ends."""
    told = Told()
    keeping = Supervisor([child(program) for program in programs], environment=os.environ, forget=told.forgotten.append)

    def say_ready() -> None:
        told.said.append("ready")
        when_ready()

    uvloop.run(
        keeping.run(
            say_ready=say_ready, say_stopping=lambda: told.said.append("stopping"), ending_seconds=ending_seconds
        )
    )
    return told


def tell(*numbers: signal.Signals) -> None:
    for number in numbers:
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_is_ready_when_all_are_and_ends_with_all(number):
    told = supervise(PATIENT, PATIENT, when_ready=lambda: tell(number))
    assert told.said == ["ready", "stopping"]
    assert len(told.forgotten) == 2


def test_one_that_does_not_start_ends_the_others():
    with pytest.raises(GaveUp, match=r"^The child could not be started: exit status 7\.$"):
        supervise(PATIENT, "raise SystemExit(7)")


def test_one_whose_program_is_not_there_ends_the_others():
    keeping = Supervisor([child(PATIENT), Program("The child", ("/nowhere",))], environment=os.environ)
    with pytest.raises(GaveUp, match=r"^The child could not be started: No such file or directory\.$"):
        uvloop.run(keeping.run(say_ready=lambda: None, say_stopping=lambda: None, ending_seconds=PATIENCE_SECONDS))


def test_one_that_is_killed_is_started_again(tmp_path):
    first = tmp_path / "first"
    program = f"{READY}first = {str(first)!r}\nif not os.path.exists(first):\n    open(first, 'w').close()\n"
    program += f"    os.kill(os.getpid(), signal.SIGKILL)\nos.kill(os.getppid(), signal.SIGTERM)\n{PATIENT}"
    told = supervise(program)
    assert first.exists()
    assert len(told.forgotten) == 2


def test_one_that_ends_again_and_again_ends_the_whole(monkeypatch):
    monkeypatch.setattr(supervisor, "PAUSES_SECONDS", (0.0, 0.01, 0.01, 0.01))
    with pytest.raises(GaveUp, match=r"^The child ended 5 times just after its start, at last so: SIGABRT\.$"):
        supervise(PATIENT, f"{READY}os.abort()")


def test_ends_that_are_far_apart_are_no_reason_to_give_up(monkeypatch, tmp_path):
    monkeypatch.setattr(supervisor, "QUICK_SECONDS", 0.0)
    count = tmp_path / "count"
    program = f"{READY}count = open({str(count)!r}, 'a')\ncount.write('x')\ncount.close()\n"
    program += f"if os.path.getsize({str(count)!r}) > 7:\n    os.kill(os.getppid(), signal.SIGTERM)\n"
    program += f"    time.sleep({PATIENCE_SECONDS})\nraise SystemExit(1)"
    assert len(supervise(program).forgotten) == 8


def test_one_that_does_not_end_in_time_is_killed():
    with pytest.raises(GaveUp, match=r"had not ended after 0\.1 seconds and were killed"):
        supervise(PATIENT, STUBBORN, when_ready=lambda: tell(signal.SIGTERM), ending_seconds=0.1)


def test_a_second_interrupt_ends_all_at_once():
    began = time.monotonic()
    supervise(
        STUBBORN, when_ready=lambda: (tell(signal.SIGINT), asyncio.get_running_loop().call_soon(tell, signal.SIGINT))
    )
    assert time.monotonic() - began < PATIENCE_SECONDS / 2


def test_one_that_is_not_ready_yet_is_not_waited_for():
    stop = f"{READY}os.kill(os.getppid(), signal.SIGTERM)\n{PATIENT}"
    assert re.fullmatch("stopping", ",".join(supervise(stop, NEVER_READY).said))
