"""Workers: whether one is alive by its heartbeat, and whether replies wait for one."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.utils import Error

from chatsite.checkup import Line, State
from chatsite.command_line import spell_command
from conversations.selectors.figures.worker_status import worker_status
from conversations.worker_probe import judge_workers, lease_over_seconds

from . import database
from .options import Options

SUBJECT = "workers"


def check_workers(options: Options) -> Iterator[Line]:
    if database.is_still_to_be_made():
        yield Line("look", SUBJECT, "There is no database yet, so no worker.", "Start the site.")
        return
    try:
        status = worker_status()
        found = judge_workers(status, lease_over_seconds())
    except Error:
        yield Line("look", SUBJECT, database.AWAY)
        return
    if found.state == "ok":
        yield Line("ok", SUBJECT, f"{status.alive} alive; {status.waiting} replies wait for one.")
        return
    advice = f"If the site is to run now: start it, or {spell_command('run_worker')} where RUN_WORKER is off."
    state: State = "bad" if status.waiting else "look"  # else the site may not be meant to run now
    yield Line(state, SUBJECT, f"{found.reason[0].upper()}{found.reason[1:]}.", advice)
