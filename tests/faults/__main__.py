"""`python -m tests.faults`: every fault at its full number of rounds, in pieces that can be interrupted and resumed.

Each row of the table is a part of this folder's tests. All rounds together take many hours, so they are gathered over
days: the table of `docs/faults.md` is what was done, a run goes on where the one before it stopped, with new seeds, and
each row names the commits that its rounds were run at. `--afresh` begins rows again, as after a mended fault.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from tests.support.source import PROJECT

PAGE = PROJECT / "docs" / "faults.md"
BEGIN, END = "<!-- rounds -->", "<!-- end of rounds -->"
# A piece begins with a database and a site of its own: the first one is small, the others take about so long.
FIRST_ROUNDS = 10
PIECE_SECONDS = 600


@dataclass(frozen=True)
class Row:
    """A fault of the table: *tests* are pytest's names within this folder, *rounds* how many seeds are tried in all."""

    fault: str
    tests: str
    rounds: int


ROWS = (
    Row("The server is killed in mid reply", "test_killed_server.py", 200),
    Row("The web process is killed, the worker goes on", "test_two_processes.py::test_a_killed_web_process*", 200),
    Row("One of several processes is killed, or the one that keeps them", "test_several_processes.py", 20),
    Row("A worker is killed before the first token, or after it", "test_abandoned_replies.py", 50),
    Row("A worker is killed while tools are called", "test_tools.py", 50),
    Row("A worker sleeps past its lease, or is killed once a request is paid", "test_billed_once.py", 20),
    Row("A worker has no file descriptor left", "test_exhausted_worker.py", 20),
    Row("An acknowledgement is lost, the message is sent again", "test_lost_acknowledgement.py", 100),
    Row("The page is closed, reloaded, opened twice", "test_closed_page.py", 100),
    Row("Sockets of pages are forgotten by the network", "test_half_open_pages.py", 10),
    Row("Several pages send at once", "test_sending_at_once.py", 100),
    Row("Rights end in mid reply", "test_gate.py", 100),
    Row("Redis is killed", "test_two_processes.py::*redis*", 50),
    Row("Redis answers, and messages vanish or connections are dead", "test_unheard_messages.py", 20),
    Row("Redis is slow: paused for 5 seconds, or 0.5 seconds away", "test_slow_redis.py", 10),
    Row("Frames to a page are lost, doubled or put off", "test_lossy_frames.py", 50),
    Row("PostgreSQL is killed, or ends all connections", "test_database_away.py", 100),
    Row("All connections of the pool are taken", "test_full_pool.py", 10),
    Row("Connections to the database are forgotten by the network", "test_forgotten_connections.py", 20),
    Row("The database is read-only for 8 seconds", "test_failover.py", 10),
    Row("The disk of the database is full", "test_full_disk.py", 10),
    Row("The log's disk is full", "test_full_log.py", 10),
    Row("The clock of a process jumps by an hour or two days", "test_clock_jumps.py", 40),
    Row("The provider cuts, stalls or sends nonsense", "test_provider_streams.py", 20),
    Row("SIGTERM under load", "test_sigterm.py", 50),
    Row("Each of two web processes and two workers is restarted under load", "test_rolling_restart.py", 20),
    Row("Stop at every moment", "test_stopping.py", 100),
    Row("A conversation is changed from another page in mid reply", "test_changed_meanwhile.py", 50),
    Row("Money for one, fifty senders", "test_money.py", 20),
    Row("Bad frames and bursts", "test_bad_frames.py", 20),
    Row("Handshakes of other origins, and far too many", "test_handshake.py", 10),
    Row("Requests and sockets of several people end at any moment, 200 a round", "test_cancelled_requests.py", 50),
    Row("The web process is killed with 500 open pages, which come back at once", "test_reconnect_storm.py", 20),
    Row("Messages of a million characters that are made to cost", "test_long_messages.py", 10),
    Row("Strange text", "test_strange_text.py", 5),
    Row("Uploads that are too large or never end", "test_uploads.py", 10),
    Row("Summaries that fail", "test_summaries.py", 20),
    Row("A reply awaits approval while processes end", "test_awaiting_approval.py", 50),
    Row("A parser is killed", "test_parsing_documents.py", 50),
    Row("A worker is killed while it imports 2,000 conversations", "test_imports.py", 20),
    Row("Programs send requests again, also at once and to a killed process", "test_idempotency.py", 20),
    Row("Webhooks whose sender is killed, or whose receiver never answers", "test_webhooks.py", 20),
    Row("A tokenizer counts a fifth more than ours", "test_calibration.py", 5),
    Row("A program's conversation of 500 turns outgrows a window of 4,096 tokens", "test_endless_conversation.py", 3),
    Row("An upgrade under traffic, each of its migrations killed", "test_rehearsal.py", 20),
    Row("A site is moved to another database, and the command is killed", "test_moved_databases.py", 20),
    Row("A backup under load, restored and compared row by row", "test_backups_under_load.py", 20),
    Row("A backup, a restore or a verification is killed", "test_killed_backups.py", 20),
    Row("The embedded PostgreSQL is upgraded, and the command is killed", "test_upgraded_postgres.py", 20),
    Row("Health in each state of database, Redis and workers", "test_health.py", 5),
)


@dataclass
class Done:
    """What was done of a row: seeds from 0 on, tests run and failed, the first and last commit, the day of the last."""

    rounds: int = 0
    tests: int = 0
    failed: int = 0
    commits: tuple[str, ...] = ()
    day: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="no piece is begun after so long (60)")
    parser.add_argument("--rounds", type=int, help="fewer rounds of each row, for a try")
    parser.add_argument("--only", default="", help="rows whose fault contains these words")
    parser.add_argument("--afresh", action="store_true", help="forget what was done of these rows")
    options = parser.parse_args()
    until = time.monotonic() + options.minutes * 60
    rows = [row for row in ROWS if options.only.lower() in row.fault.lower()]
    done = read_page()
    if options.afresh:
        done |= {row.fault: Done() for row in rows}
    seconds_a_round: dict[str, float] = {}
    # In turn, not row by row: whenever it is interrupted, all faults have about the same part of their rounds.
    while unfinished := [row for row in rows if done[row.fault].rounds < (options.rounds or row.rounds)]:
        row = min(unfinished, key=lambda row: done[row.fault].rounds / row.rounds)
        if time.monotonic() > until:
            print(f"{len(unfinished)} rows are left; the next run goes on here.")
            break
        so_far, began = done[row.fault], time.monotonic()
        pace = seconds_a_round.get(row.fault, PIECE_SECONDS)
        rounds = max(FIRST_ROUNDS, int(PIECE_SECONDS / pace))
        rounds = min(rounds, (options.rounds or row.rounds) - so_far.rounds)
        run_piece(row, so_far, rounds=rounds)
        seconds_a_round[row.fault] = (time.monotonic() - began) / rounds
        write_page(done)
    sys.exit(any(each.failed for each in done.values()))


def run_piece(row: Row, done: Done, *, rounds: int) -> None:
    """Run the next *rounds* seeds of *row* and add the outcome to *done*."""
    print(f"{row.fault}: rounds {done.rounds} to {done.rounds + rounds - 1}", flush=True)
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        environment = os.environ | {
            "FAULT_ROUNDS": str(rounds),
            "FAULT_FIRST_SEED": str(done.rounds),
            "FAULT_REPEATS_ALL": "1",
            "WINDOWSEAT_LONG_FAULTS": "1",
            "WINDOWSEAT_REHEARSAL": "1",
            "WINDOWSEAT_MOVES": "1",
            "WINDOWSEAT_MOUNTS": "1",
        }
        command = [sys.executable, "-m", "pytest", "-q", f"--junit-xml={report}", *selection(row)]
        outcome = subprocess.run(command, cwd=PROJECT, env=environment, check=False)
        if outcome.returncode > 1 or not report.exists():  # interrupted: the piece is begun again another time
            sys.exit(f"pytest ended with {outcome.returncode}, so these rounds do not count")
        suite = ElementTree.parse(report).getroot()[0].attrib
    done.rounds += rounds
    done.tests += int(suite["tests"]) - int(suite["skipped"])
    done.failed += int(suite["failures"]) + int(suite["errors"])
    done.commits = tuple(dict.fromkeys((*done.commits[:1], present_commit())))
    done.day = dt.datetime.now(dt.UTC).date().isoformat()


def selection(row: Row) -> Iterator[str]:
    """Yield pytest's arguments for the tests of a row."""
    file, _, names = row.tests.partition("::")
    yield f"tests/faults/{file}"
    if names:
        yield from ("-k", names.strip("*"))


def present_commit() -> str:
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.strip()


def read_page() -> dict[str, Done]:
    """Return what the table says was done of each row; a row that is not in it has no rounds yet."""
    _, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    lines = [line for line in rest.split(END)[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found = {fault: read_row(*rest) for fault, *rest in cells[2:]}
    return {row.fault: found.get(row.fault, Done()) for row in ROWS}


def read_row(rounds: str, _seeds: str, tests: str, failed: str, commits: str, day: str) -> Done:
    """Return a row of the table as numbers: the inverse of `show_row`."""
    between = tuple(commits.split(" to ")) if commits else ()
    return Done(int(rounds.split(" of ")[0]), int(tests.replace(",", "")), int(failed), between, day)


def write_page(done: dict[str, Done]) -> None:
    """Write the table between its two marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(done)}\n{END}{after}", encoding="utf-8")


def table(done: dict[str, Done]) -> str:
    lines = [
        "| Fault | Rounds, of | Seeds | Tests run | Failed | Commits | Day |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *(show_row(row, done[row.fault]) for row in ROWS)])


def show_row(row: Row, done: Done) -> str:
    seeds = f"0 to {done.rounds - 1}" if done.rounds else "–"
    counts = f"{done.rounds} of {row.rounds} | {seeds} | {done.tests:,} | {done.failed}"
    return f"| {row.fault} | {counts} | {' to '.join(done.commits)} | {done.day} |"


if __name__ == "__main__":
    main()
