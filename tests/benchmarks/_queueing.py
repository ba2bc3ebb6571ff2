"""Queues in a simulation: who waits how long for servers of which each serves one at a time. Times are in seconds."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """Servers that each turn passes, and the mean time that it takes there.

    With *shares_queue* the next free server takes who waits longest, as the processors of a database do. Without,
    each server has a queue of its own, chosen by chance: a process whose connections stay with it.
    """

    name: str
    servers: int
    service_seconds: float
    shares_queue: bool = False

    def utilisation(self, arrivals_per_second: float) -> float:
        """Return the share of their time that the servers work; from 1 on the queue grows without an end."""
        return arrivals_per_second * self.service_seconds / self.servers


class _Servers:
    """When each server of a stage is free again."""

    def __init__(self, stage: Stage, chance: random.Random) -> None:
        self._stage, self._chance = stage, chance
        self._free_at = [0.0] * stage.servers

    def serve(self, at: float) -> float:
        """Return when a turn that comes *at* leaves. Turns have to come in the order of time."""
        seconds = self._chance.expovariate(1 / self._stage.service_seconds)
        if self._stage.shares_queue:
            until = max(at, self._free_at[0]) + seconds
            heapq.heapreplace(self._free_at, until)
            return until
        number = self._chance.randrange(self._stage.servers)
        self._free_at[number] = max(at, self._free_at[number]) + seconds
        return self._free_at[number]


def random_arrivals(per_second: float, count: int, chance: random.Random) -> Iterator[float]:
    """Yield the moments at which people ask who know nothing of each other."""
    at = 0.0
    for _ in range(count):
        at += chance.expovariate(per_second)
        yield at


def simulate(stages: Sequence[Stage], arrivals: Iterator[float], chance: random.Random) -> list[float]:
    """Let each arrival pass all *stages* in turn, and return the seconds that each took, waiting included.

    What comes first to a stage is served first, whatever came first to the one before.
    """
    began = list(arrivals)
    at = [(moment, number) for number, moment in enumerate(began)]
    for stage in stages:
        servers = _Servers(stage, chance)
        at = [(servers.serve(moment), number) for moment, number in sorted(at)]
    took = [0.0] * len(began)
    for moment, number in at:
        took[number] = moment - began[number]
    return took


def mean_wait_seconds(stage: Stage, arrivals_per_second: float) -> float:
    """Return the mean wait of an M/M/c queue by Erlang's formula C: random arrivals, random times of service."""
    load, servers = arrivals_per_second * stage.service_seconds, stage.servers
    if load >= servers:
        return float("inf")
    blocked = 1.0  # Erlang's formula B, by its recursion
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    waits = blocked / (1 - load / servers * (1 - blocked))
    return waits * stage.service_seconds / (servers - load)
