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
    with CpuLimit(1.0) as limit:
        clocks.work(0.5, waiting=9)
        assert not limit.is_exceeded()
        clocks.work(0.6)
        assert limit.is_exceeded()


def test_the_work_of_all_its_blocks_counts_and_none_between_them(clocks):
    limit = CpuLimit(1.0)
    with limit:
        clocks.work(0.7)
    clocks.work(5.0)
    with limit:
        clocks.work(0.2)
        assert not limit.is_exceeded()
        clocks.work(0.2)
        assert limit.is_exceeded()
    with limit:
        assert limit.is_exceeded()


def test_real_work_exceeds_it():
    with CpuLimit(0.001) as limit:
        while not limit.is_exceeded():
            pass
