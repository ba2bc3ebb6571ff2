"""The computation of what many people need: its queues against known formulas, and that its sums are kept."""

from __future__ import annotations

import random
import statistics

import pytest

from tests.benchmarks._queueing import Stage, mean_wait_seconds, random_arrivals, simulate
from tests.benchmarks.scaling import (
    COSTS,
    SIZES,
    Assumptions,
    demands,
    gives_out_first,
    load_of,
    processes_for,
)

TURNS = 60_000


def waits(stage, arrivals_per_second, seed=1):
    chance = random.Random(seed)
    took = simulate([stage], random_arrivals(arrivals_per_second, TURNS, chance), chance)
    return statistics.mean(took) - stage.service_seconds


@pytest.mark.parametrize("servers", [1, 2, 8])
@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.8])
def test_simulated_waits_are_those_of_erlangs_formula(servers, utilisation):
    stage = Stage("database", servers, 0.01, shares_queue=True)
    rate = utilisation * servers / stage.service_seconds
    assert stage.utilisation(rate) == pytest.approx(utilisation)
    assert waits(stage, rate) == pytest.approx(mean_wait_seconds(stage, rate), rel=0.15, abs=0.0002)


def test_one_server_waits_as_long_as_the_textbook_says():
    assert mean_wait_seconds(Stage("one", 1, 0.01), 50) == pytest.approx(0.5 / (1 - 0.5) * 0.01)
    assert mean_wait_seconds(Stage("one", 1, 0.01), 100) == float("inf")


def test_queues_of_their_own_are_slower_than_one_that_is_shared():
    rate = 0.7 * 8 / 0.01
    assert waits(Stage("own", 8, 0.01), rate) > 3 * waits(Stage("shared", 8, 0.01, shares_queue=True), rate)


def test_every_turn_leaves_once_and_later_than_it_came():
    chance = random.Random(3)
    stages = [Stage("web", 3, 0.01), Stage("database", 2, 0.002, shares_queue=True), Stage("worker", 2, 0.01)]
    took = simulate(stages, random_arrivals(100, 5_000, chance), chance)
    assert len(took) == 5_000
    assert min(took) > 0


def test_waits_grow_with_the_load():
    stage = Stage("web", 4, 0.01)
    means = [waits(stage, utilisation * 400) for utilisation in (0.2, 0.5, 0.8, 0.95)]
    assert means == sorted(means)


def test_as_many_replies_stream_as_are_asked_for_times_how_long_each_takes():
    load = load_of(6_000, Assumptions(turns_per_minute=1, reply_tokens=400, tokens_per_second=40))
    assert load.turns_per_second == pytest.approx(100)
    assert load.streaming == pytest.approx(100 * 10)


def test_no_part_takes_less_when_more_people_come():
    before = None
    for people in (10, *SIZES, 1_000_000):
        shares = {demand.part: demand.share for demand in demands(people, Assumptions(), COSTS)}
        if before:
            assert all(shares[part] >= before[part] for part in before)
        before = shares


def test_what_gives_out_first_is_the_part_with_the_largest_share():
    found = demands(100_000, Assumptions(), COSTS)
    assert gives_out_first(found) is max(found, key=lambda demand: demand.share)
    assert gives_out_first(found).share > 1


def test_twice_the_people_need_twice_the_processes():
    few, many = (processes_for(people, Assumptions(), COSTS) for people in (50_000, 100_000))
    assert many.web == pytest.approx(2 * few.web, abs=1)
    assert many.workers == pytest.approx(2 * few.workers, abs=1)


def test_processes_have_room_for_what_comes():
    load, processes = load_of(10_000, Assumptions()), processes_for(10_000, Assumptions(), COSTS)
    assert COSTS.web_cores(load) <= processes.web * COSTS.most_of_a_process
    assert COSTS.worker_cores(load) <= processes.workers * COSTS.most_of_a_process
    assert load.streaming <= processes.workers * COSTS.replies_of_a_worker
