"""What 1,000, 10,000 and 100,000 people at once would take, computed from measured costs, and what gives out first.

Nothing is measured here, so it takes seconds: `Costs` says where each figure is from, `Assumptions` what people are
taken to do, `Units` what one of each part carries. The curve is a simulation of queues: how much later the first token
comes than the provider sends it, by how busy the processes are. docs/scaling.md says what follows.

    python -m tests.benchmarks.scaling [--turns-per-minute 0.5] [--reply-tokens 300] [--json FILE]
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tests.benchmarks._figures import Figures, arguments_for, percentile, write_json
from tests.benchmarks._queueing import Stage, random_arrivals, simulate

SIZES = (1_000, 10_000, 100_000)
UTILISATIONS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
SIMULATED_TURNS = 40_000
HOURS_A_DAY = 8  # in which so many people are there
SEED = 20261125


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What people do who are there at once: each has a page open, reads, thinks and asks again."""

    turns_per_minute: float = 0.5  # of one of them
    reply_tokens: int = 300
    tokens_per_second: float = 40.0  # of the provider, as the demo model speaks
    pages_open: float = 1.2  # sockets of one of them
    pages_loaded_per_minute: float = 0.2

    @property
    def reply_seconds(self) -> float:
        return self.reply_tokens / self.tokens_per_second


@dataclass(frozen=True, slots=True)
class Load:
    """What so many people ask for at a moment."""

    people: int
    turns_per_second: float
    streaming: float
    sockets: float
    pages_per_second: float


def load_of(people: int, assumed: Assumptions) -> Load:
    turns = people * assumed.turns_per_minute / 60
    return Load(
        people=people,
        turns_per_second=turns,
        streaming=turns * assumed.reply_seconds,  # Little's law
        sockets=people * assumed.pages_open,
        pages_per_second=people * assumed.pages_loaded_per_minute / 60,
    )


# Measured at 1575ace4 (docs/measurements/streaming.md). One process: 13.2 ms for 20 tokens, 48.9 for 600 in 15 s, so
# 12.0 a turn, with a socket opened for it, and 2.5 a streaming second. Two processes and a worker took 40.2 where one
# took 27.4. Of that 37 % were the web processes' where turns were measured one by one (f8318f83).
SEVERAL = 40.2 / 27.4
WEB_SHARE = 0.37


@dataclass(frozen=True, slots=True)
class Costs:
    """Milliseconds of processor time, bytes and counts. COUNTED is the table at the end of docs/scaling.md."""

    web_ms_a_turn: float = 12.0 * SEVERAL * WEB_SHARE
    web_ms_a_streaming_second: float = 2.5 * SEVERAL * WEB_SHARE
    web_ms_a_page: float = 42.0  # COUNTED
    web_ms_a_socket_second: float = 0.005  # COUNTED: the check of its session
    worker_ms_a_turn: float = 12.0 * SEVERAL * (1 - WEB_SHARE)
    worker_ms_a_streaming_second: float = 2.5 * SEVERAL * (1 - WEB_SHARE)
    postgres_ms_a_turn: float = 4.4  # measurements: 4.6 for 20 tokens
    postgres_ms_a_streaming_second: float = 0.37  # measurements: 10.0 for 600 tokens in 15 s
    postgres_ms_a_page: float = 4.5  # COUNTED
    claim_ms: float = 0.2  # COUNTED, with few runs
    claim_ms_a_running_run: float = 0.0002  # COUNTED
    watch_ms_a_session: float = 0.0077  # COUNTED, each second
    commit_ms: float = 2.1  # COUNTED: one fdatasync
    commits_a_turn: float = 8.0  # COUNTED, of those that write
    commits_a_worker_second: float = 4.3  # COUNTED: texts, leases, heartbeat
    wal_bytes_a_turn: float = 17_800.0  # COUNTED
    wal_bytes_a_streaming_second: float = 23_500.0  # COUNTED, with the pages that are written whole
    stored_bytes_a_turn: float = 10_000.0  # COUNTED, roughly
    publishes_a_turn: float = 7.0  # COUNTED
    publishes_a_streaming_second: float = 19.0  # measurements: a page gets 300 frames of 600 tokens in 15 s
    redis_bytes_a_publish: float = 640.0  # COUNTED, in and out
    redis_ms_a_publish: float = 0.0073  # COUNTED, one by one; 0.0009 where 25 go together
    sum_requests_a_second_of_a_part: float = 332.0  # measurements: one row, 32 connections, two cores
    site_sum_parts: int = 16  # conversations/services/ledger/spending_sums.py
    process_megabytes: float = 190.0  # operating.md
    socket_kilobytes: float = 17.0  # measurements
    connections_of_a_process: int = 17  # DATABASE_POOL_SIZE and one
    replies_of_a_worker: int = 100  # REPLIES_AT_ONCE
    most_of_a_process: float = 0.6  # of its core: the curve says why no more

    def web_cores(self, load: Load) -> float:
        return (
            load.turns_per_second * self.web_ms_a_turn
            + load.streaming * self.web_ms_a_streaming_second
            + load.pages_per_second * self.web_ms_a_page
            + load.sockets * self.web_ms_a_socket_second
        ) / 1000

    def worker_cores(self, load: Load) -> float:
        return (
            load.turns_per_second * self.worker_ms_a_turn + load.streaming * self.worker_ms_a_streaming_second
        ) / 1000

    def turn_cores_of_postgres(self, load: Load) -> float:
        return (
            load.turns_per_second * self.postgres_ms_a_turn
            + load.streaming * self.postgres_ms_a_streaming_second
            + load.pages_per_second * self.postgres_ms_a_page
        ) / 1000

    def ms_of_claim(self, load: Load) -> float:
        return self.claim_ms + self.claim_ms_a_running_run * load.streaming

    def publishes_per_second(self, load: Load) -> float:
        return load.turns_per_second * self.publishes_a_turn + load.streaming * self.publishes_a_streaming_second


COSTS = Costs()


@dataclass(frozen=True, slots=True)
class Units:
    """What one of each part is taken to carry. None of it was tried."""

    postgres_cores: int = 16
    wal_megabytes_per_second: float = 100.0  # that a disk and a replica keep up with all day
    connections: int = 500
    redis_cores: int = 1  # it serves in one thread
    redis_megabytes_per_second: float = 100.0  # of a network of a gigabit


UNITS = Units()


@dataclass(frozen=True, slots=True)
class Processes:
    web: int
    workers: int


def processes_for(people: int, assumed: Assumptions, costs: Costs) -> Processes:
    """Return how many are needed if each may be as busy as `most_of_a_process`."""
    load = load_of(people, assumed)
    by_work = costs.worker_cores(load) / costs.most_of_a_process
    return Processes(
        web=max(1, math.ceil(costs.web_cores(load) / costs.most_of_a_process)),
        workers=max(1, math.ceil(max(by_work, load.streaming / costs.replies_of_a_worker))),
    )


@dataclass(frozen=True, slots=True)
class Demand:
    """What a part of which there is one takes, and what one carries."""

    part: str
    needed: float
    carried: float
    unit: str

    @property
    def share(self) -> float:
        return self.needed / self.carried


def demands(people: int, assumed: Assumptions, costs: Costs, units: Units = UNITS) -> list[Demand]:
    load, processes = load_of(people, assumed), processes_for(people, assumed, costs)
    parts = costs.sum_requests_a_second_of_a_part
    wal = (load.turns_per_second * costs.wal_bytes_a_turn + load.streaming * costs.wal_bytes_a_streaming_second) / 1e6
    publishes = costs.publishes_per_second(load)
    cores = units.postgres_cores
    return [
        Demand("PostgreSQL: turns and pages", costs.turn_cores_of_postgres(load), cores, "cores"),
        Demand("PostgreSQL: claims of runs", claim_cores(load, processes, assumed, costs), cores, "cores"),
        Demand("PostgreSQL: check of sessions", load.people * costs.watch_ms_a_session / 1000, cores, "cores"),
        Demand("PostgreSQL: WAL", wal, units.wal_megabytes_per_second, "MB/s"),
        Demand("PostgreSQL: connections", connections_of(processes, costs), units.connections, ""),
        Demand("site's sums, in 16 parts", load.turns_per_second, parts * costs.site_sum_parts, "turns/s"),
        Demand("the same, in one row", load.turns_per_second, parts, "turns/s"),
        Demand("Redis: core", publishes * costs.redis_ms_a_publish / 1000, units.redis_cores, "cores"),
        Demand(
            "Redis: network", publishes * costs.redis_bytes_a_publish / 1e6, units.redis_megabytes_per_second, "MB/s"
        ),
    ]


def claim_cores(load: Load, processes: Processes, assumed: Assumptions, costs: Costs) -> float:
    """Return what claims take: every worker asks at every new run, but asks no second time before it is answered."""
    seconds = costs.ms_of_claim(load) / 1000
    return processes.workers * min(load.turns_per_second * seconds, 1.0)


def connections_of(processes: Processes, costs: Costs) -> int:
    return (processes.web + processes.workers) * costs.connections_of_a_process


def gives_out_first(found: Sequence[Demand]) -> Demand:
    return max(found, key=lambda demand: demand.share)


# The curve


def stages_for(processes: Processes, costs: Costs, units: Units) -> list[Stage]:
    """Return what a turn passes before its first token: half of its own work, as an estimate; the rest comes after.

    Streaming of other replies is in how busy a process is, not a stage.
    """
    return [
        Stage("web process", processes.web, costs.web_ms_a_turn / 2 / 1000),
        Stage("PostgreSQL", units.postgres_cores, costs.postgres_ms_a_turn / 2 / 1000, shares_queue=True),
        Stage("worker", processes.workers, costs.worker_ms_a_turn / 2 / 1000),
    ]


def curve(processes: Processes, costs: Costs, units: Units = UNITS) -> list[Figures]:
    """Return how late first tokens are by how busy the busiest stage is, with that many processes."""
    stages, points = stages_for(processes, costs, units), []
    most_per_second = 1 / max(stage.utilisation(1) for stage in stages)
    for utilisation in UTILISATIONS:
        chance = random.Random(SEED)
        per_second = utilisation * most_per_second
        took = simulate(stages, random_arrivals(per_second, SIMULATED_TURNS, chance), chance)
        points.append(
            {
                "utilisation": utilisation,
                "p50_ms": 1000 * percentile(took, 0.5),
                "p95_ms": 1000 * percentile(took, 0.95),
            }
        )
    return points


# The report


def compute(assumed: Assumptions, costs: Costs = COSTS) -> Figures:
    sizes = []
    for people in SIZES:
        load, processes = load_of(people, assumed), processes_for(people, assumed, costs)
        found = demands(people, assumed, costs)
        sizes.append(
            {
                **asdict(load),
                "web_cores": costs.web_cores(load),
                "worker_cores": costs.worker_cores(load),
                "web_processes": processes.web,
                "workers": processes.workers,
                "gigabytes": gigabytes(load, processes, costs),
                "commits_per_second": commits_per_second(load, processes, costs),
                "publishes_per_second": costs.publishes_per_second(load),
                "connections_in_use": connections_in_use(load, processes, costs),
                "stored_gigabytes_a_day": stored_gigabytes_a_day(load, costs),
                "demands": [{**asdict(demand), "share": demand.share} for demand in found],
                "gives_out_first": gives_out_first(found).part,
            }
        )
    curves = {count: curve(Processes(count, count), costs) for count in (1, 4, 16)}
    return {"assumptions": asdict(assumed), "costs": asdict(costs), "sizes": sizes, "curves": curves}


def gigabytes(load: Load, processes: Processes, costs: Costs) -> float:
    """Return the memory of all web processes and workers."""
    of_processes = (processes.web + processes.workers) * costs.process_megabytes / 1000
    return of_processes + load.sockets * costs.socket_kilobytes / 1e6


def commits_per_second(load: Load, processes: Processes, costs: Costs) -> float:
    return load.turns_per_second * costs.commits_a_turn + processes.workers * costs.commits_a_worker_second


def connections_in_use(load: Load, processes: Processes, costs: Costs) -> float:
    """Return how many are in a transaction at a moment: each lasts for its work and its commit's way to the disk."""
    waiting = commits_per_second(load, processes, costs) * costs.commit_ms / 1000
    return costs.turn_cores_of_postgres(load) + waiting


def stored_gigabytes_a_day(load: Load, costs: Costs) -> float:
    return load.turns_per_second * HOURS_A_DAY * 3600 * costs.stored_bytes_a_turn / 1e9


def report(figures: Figures) -> None:
    sizes = figures["sizes"]
    print("{turns_per_minute} turns a minute of each, {reply_tokens} tokens a reply".format(**figures["assumptions"]))
    print(f"\n{'people at once':<34}" + "".join(f"{size['people']:>16,}" for size in sizes))
    for name in sizes[0]:
        if name not in ("people", "demands", "gives_out_first"):
            print(f"{name.replace('_', ' '):<34}" + "".join(f"{size[name]:>16,.1f}" for size in sizes))
    print("\nshare of what one carries")
    for row in zip(*(size["demands"] for size in sizes), strict=True):
        cells = "".join(f"{demand['needed']:>10,.1f}{demand['share']:>6.0%}" for demand in row)
        print(f"  {row[0]['part']:<32}{cells}  of {row[0]['carried']:,.0f} {row[0]['unit']}")
    print("gives out first: " + "; ".join(f"{size['people']:,}: {size['gives_out_first']}" for size in sizes))
    print("\nfirst token later than the provider's, ms (p50 / p95), by how busy the busiest stage is")
    print(f"{'web processes, workers':<24}" + "".join(f"{utilisation:>12.0%}" for utilisation in UTILISATIONS))
    for count, points in figures["curves"].items():
        print(f"{count:<24}" + "".join(f"{point['p50_ms']:>6.0f} /{point['p95_ms']:>4.0f}" for point in points))


def main() -> None:
    usual, arguments = Assumptions(), arguments_for(__doc__.splitlines()[0])
    arguments.add_argument("--turns-per-minute", type=float, default=usual.turns_per_minute, help="of one person")
    arguments.add_argument("--reply-tokens", type=int, default=usual.reply_tokens)
    chosen = arguments.parse_args()
    figures = compute(
        Assumptions(chosen.turns_per_minute, chosen.reply_tokens),
    )
    report(figures)
    write_json(figures, chosen.json)


if __name__ == "__main__":
    main()
