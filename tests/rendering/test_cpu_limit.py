"""Processor time is limited, not the time that passes."""

import pytest

from conversations.rendering import cpu_limit
from conversations.rendering.cpu_limit import CpuLimit


class Clocks:
    """Stands for the module `time`: *passed* seconds, of which the thread has worked *cpu*."""

    passed = cpu = 0.0

    def monotonic(self) -> float:
        return self.passed

    def thread_time(self) -> float:
        return self.cpu

    def work(self, cpu: float, *, waiting: float = 0.0) -> None:
        self.cpu += cpu
        self.passed += cpu + waiting


@pytest.fixture
def clocks(monkeypatch):
    clocks = Clocks()
    monkeypatch.setattr(cpu_limit, "time", clocks)
    return clocks


def test_it_is_exceeded_by_work_and_not_by_waiting(clocks):
    limit = CpuLimit(1.0)
    limit.start()
    clocks.work(0.5, waiting=9)
    assert not limit.is_exceeded()
    clocks.work(0.6)
    assert limit.is_exceeded()
    limit.stop()
    assert limit.is_exceeded()


def test_all_that_is_done_between_start_and_stop_counts_and_nothing_else(clocks):
    limit = CpuLimit(1.0)
    for _ in range(2):
        clocks.work(5.0)
        limit.start()
        clocks.work(0.1)
        limit.start()
        clocks.work(0.3)
        limit.stop()
        limit.stop()
        assert not limit.is_exceeded()
    limit.start()
    clocks.work(0.1)
    assert not limit.is_exceeded()
    clocks.work(0.2)
    assert limit.is_exceeded()


def test_real_work_exceeds_it():
    limit = CpuLimit(0.001)
    limit.start()
    while not limit.is_exceeded():
        pass
