from __future__ import annotations

import itertools
import signal
import time

import pytest

from tests.benchmarks import _turns
from tests.benchmarks._turns import OutOfTime, Taken, Work, medians, stopped_after, take_turns, take_turns_within


def forever() -> None:
    for _ in itertools.count():
        try:
            time.sleep(0.001)
        except Exception:  # as a library might that takes every failure for its own
            continue


def test_each_work_has_its_turn_in_every_round():
    done: list[str] = []
    works = {"a": lambda: done.append("a"), "b": lambda: done.append("b")}
    take_turns(works, rounds=2, warm_up_rounds=1)
    assert done == ["a", "b"] * 3


def test_medians_are_of_each_figure():
    assert medians([Taken(1, 9), Taken(5, 1), Taken(3, 2)]) == Taken(3, 2)


def test_waiting_takes_time_but_no_cpu():
    taken = take_turns({"wait": lambda: time.sleep(0.02)}, rounds=3, warm_up_rounds=0)["wait"]
    assert taken.wall_us >= 20_000 > 2 * taken.cpu_us


def test_who_does_not_finish_is_stopped_and_gets_no_more_turns():
    turns: list[int] = []

    def endless() -> None:
        turns.append(1)
        forever()

    taken = take_turns_within({"endless": endless, "quick": int}, rounds=3, seconds=0.05)
    assert taken["endless"] is None
    assert taken["quick"] is not None
    assert len(turns) == 1


def test_who_has_used_up_the_time_in_some_turns_gets_no_more(monkeypatch):
    turns: list[Taken] = []

    def slow(work: Work) -> Taken:
        turns.append(Taken(wall_us=15e6, cpu_us=1))
        return turns[-1]

    monkeypatch.setattr(_turns, "time_work", slow)
    assert take_turns_within({"slow": int}, rounds=5, seconds=20) == {"slow": turns[0]}
    assert len(turns) == 2


def test_who_finishes_in_time_is_not_stopped_later():
    before = signal.getsignal(signal.SIGALRM)
    with stopped_after(60):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_library_cannot_swallow_the_end_of_its_time():
    with pytest.raises(OutOfTime), stopped_after(0.01):
        forever()
