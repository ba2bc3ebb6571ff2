"""The backup maker: one process of several makes what is due, and how it ended is noted and logged.

The command itself is tried in tests/management; here it is a smaller process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys

import pytest

from chatsite.configuration.logs import line_formatter
from conversations.models import BackupSchedule
from conversations.runs import backup_maker as module
from conversations.runs.backup_maker import BackupMaker
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def command(monkeypatch, settings):
    """A function that sets what is run in place of the command."""
    settings.BACKUP_EVERY_HOURS = 24
    return lambda script: monkeypatch.setattr(module, "COMMAND", (sys.executable, "-S", "-c", script))


async def schedule():
    return await in_thread(BackupSchedule.objects.get)


async def test_of_several_processes_one_makes_it(command, tmp_path):
    command(f"open({str(tmp_path / 'made')!r}, 'x').close()")
    made = await asyncio.gather(*(BackupMaker().make_due() for _ in range(4)))
    assert sorted(made) == [False, False, False, True]
    assert (tmp_path / "made").exists()
    assert (await schedule()).made_at
    assert not await BackupMaker().make_due()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('a warning\\nCommandError: there is no room')", "there is no room"),
        ("import os; os.kill(os.getpid(), 9)", "it said nothing"),
    ],
)
async def test_a_failure_is_noted_and_logged(command, caplog, script, reason):
    command(script)
    assert await BackupMaker().make_due()
    noted = await schedule()
    assert (noted.failure, noted.made_at) == (reason, None)
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert json.loads(line_formatter(log_format="json").format(record))["reason"] == reason


async def test_older_ones_that_stay_are_no_failure(command, caplog):
    command("import sys; print('CommandError: older ones stay', file=sys.stderr); sys.exit(3)")
    await BackupMaker().make_due()
    noted = await schedule()
    assert noted.made_at
    assert not noted.failure
    assert [record.reason for record in caplog.records if record.levelno == logging.WARNING] == ["older ones stay"]


async def test_one_that_is_being_made_at_the_end_is_killed_and_due_again(command, tmp_path, monkeypatch):
    command(f"import signal; open({str(tmp_path / 'begun')!r}, 'x').close(); signal.pause()")
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.05)
    maker = BackupMaker()
    await maker.start()
    await wait_until((tmp_path / "begun").exists)
    await maker.drain()
    assert (await schedule()).tried_at is None


async def test_one_that_does_not_end_when_told_is_killed(command, tmp_path, monkeypatch):
    ignored = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    command(f"{ignored}; open({str(tmp_path / 'begun')!r}, 'x').close(); signal.pause()")
    monkeypatch.setattr(module, "CLEARING_SECONDS", 0.05)
    maker = BackupMaker()
    await maker.start()
    await wait_until((tmp_path / "begun").exists)
    await maker.drain()
    assert (await schedule()).tried_at is None


async def test_one_that_is_told_to_end_may_clear_away(command, tmp_path):
    clearing = f"lambda *_: sys.exit(open({str(tmp_path / 'cleared')!r}, 'x').close())"
    begun = f"open({str(tmp_path / 'begun')!r}, 'x').close()"
    command(f"import signal, sys; signal.signal(signal.SIGTERM, {clearing}); {begun}; signal.pause()")
    maker = BackupMaker()
    await maker.start()
    await wait_until((tmp_path / "begun").exists)
    await maker.drain()
    assert (tmp_path / "cleared").exists()


async def test_a_ctrl_c_in_the_terminal_is_not_for_it(command, tmp_path):
    command(f"import os; open({str(tmp_path / 'group')!r}, 'x').write(str(os.getpgrp()))")
    await BackupMaker().make_due()
    assert int((tmp_path / "group").read_text()) != os.getpgrp()


async def test_without_a_schedule_none_is_made(settings):
    settings.BACKUP_EVERY_HOURS = 0
    maker = BackupMaker()
    await maker.start()
    await maker.drain()
    assert not await in_thread(BackupSchedule.objects.exists)
