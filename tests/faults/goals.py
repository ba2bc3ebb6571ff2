"""Goals that name a time. What was measured is printed at the end of a run, beside the goal.

How long something takes says as much about the machine as about the site. So a test fails only beyond what a machine
needs that is three times as slow and on which the site, its provider and the test itself each stand still for seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import quantiles

TIMES_AS_SLOW = 3
STANDSTILL_SECONDS = 10
FIGURES_OF_95 = 20  # of fewer, 95 % are all


def percentile_95(figures: Sequence[float]) -> float:
    """Return what 95 % of *figures*, two or more, are at most."""
    return quantiles(figures, n=20, method="inclusive")[-1]


@dataclass
class Goal:
    """*what* is at most so much: seconds, or things of which *a_second* come in a second."""

    what: str
    most: float
    unit: str = "s"
    a_second: float = 1
    measured: list[float] = field(default_factory=list)

    def measure(self, figure: float) -> None:
        self.measured.append(figure)
        assert figure < self.most * TIMES_AS_SLOW + STANDSTILL_SECONDS * self.a_second, str(self)

    def __str__(self) -> str:
        worst = max(self.measured, default=0.0)
        verdict = f"goal: {self.most:g}, {'met' if worst <= self.most else 'missed'}"
        times = f"measured {len(self.measured)} ×"
        if len(self.measured) >= FIGURES_OF_95:
            times = f"for 95 % at most {percentile_95(self.measured):.3g} {self.unit}, {times}"
        return f"{self.what}: at most {worst:.3g} {self.unit}, {times} ({verdict})"


LAST_DELTA = Goal("From a lost right to the last delta", 2)
LAST_SOCKET = Goal("From a lost right to the last socket's end", 2)
LAST_CONNECTION = Goal("From a lost right to the end of the last connection to the provider", 2)
STOPPED_AT_PROVIDER = Goal("From Stop to the end of the connection to the provider", 1)
STOPPED_WITH_TOOLS = Goal("From Stop to the end of a reply that calls tools", 1)
DELETED_AT_PROVIDER = Goal("From an account's deletion to the end of its connection to the provider", 2)
INTERRUPTED = Goal("From the new start of a killed server to the end of its last reply", 30)
ENDED_WITHOUT_WORKER = Goal("From the kill of the last worker to the end of its reply", 15)
TOLD_WITHOUT_WORKER = Goal("From the kill of the last worker to a page that says that none is running", 15)
TAKEN_UP_AGAIN = Goal("From the kill of a worker to another that makes its replies, of which nothing had come", 5)
WORDS_LOST = Goal("Words that were seen and not stored when the server was killed", 200, "words", a_second=200)
SENT_AFTER_DEAD_CONNECTIONS = Goal("From dead connections to the database to the next message that is stored", 10)
CLAIMED_AFTER_DEAD_CONNECTIONS = Goal("From dead connections to the database to the claim of the next reply", 15)
TOLD_UNHEARD = Goal("From messages that vanish in Redis to a site and a page that say so", 10)
ANSWERED_WITHOUT_REDIS = Goal("From a request, while Redis stands still, to its answer", 1)
HEARD_AGAIN = Goal("From the end of that to live text again", 10)
READINESS = Goal("From asking about health to the answer", 2)
READY_WITH_ROOM = Goal("From free space on the disk of the database to a site that is ready", 15)
POSTED_WHILE_MIGRATED = Goal("From posting a message while the database is upgraded to its acknowledgement", 3)
RESUMED_AFTER_CUT = Goal("From a socket that is cut to new text in its page", 2)
RESUMED_ELSEWHERE = Goal("From the kill of one of two web processes to new text in its page", 2)
RESUMED_AFTER_RESTART = Goal("From the new start of the only web process to new text in its page", 10)
SEEN_AFTER_FORGOTTEN = Goal("From a socket that the network has forgotten to new text in its page", 30)
DROPPED_BY_SERVER = Goal("From there to the end of the last of such sockets in the server", 45)
LONGEST_GAP = Goal("Longest time without new text in a page while every process is restarted", 5)
INTERRUPTED_BY_RESTART = Goal("Replies of 50 that this interrupts, as they last longer than a drain", 20, "replies")
# Five times as patient as the others: 500 pages are rendered, and the test reads them all.
ALL_PAGES_BACK = Goal("From the new start of a killed web process to the snapshot of its last page", 20, a_second=5)
PAGES_BACK = Goal("From there to the snapshots of 95 % of its pages", 15, a_second=5)
SNAPSHOT_IN_STORM = Goal("From a page's socket to its snapshot while all come back, for 95 %", 5, a_second=5)
PAGES_BACK_CPU = Goal("Processor time of the web process until all pages are back", 10)
PAGES_BACK_PEAK = Goal("Most that the web process takes of a core in half a second of that", 1.5, "cores")
LONGEST_STALL = Goal("Longest stall of the event loop beside hostile long messages", 0.1, a_second=0)
OTHERS_SLOWER = Goal("Requests of others beside them, for 95 %, by those before", 2, "times", a_second=1)
GONE = Goal("From SIGTERM to the end of the process", 30)
GOALS = [each for each in vars().values() if isinstance(each, Goal)]
