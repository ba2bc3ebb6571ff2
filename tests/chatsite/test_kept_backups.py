"""Old backups: of those that this site made by schedule the newest are kept, and nothing else is deleted."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
from types import SimpleNamespace

import pytest

from chatsite.backups import backup_file
from chatsite.backups.backup_file import write_backup
from chatsite.backups.kept_backups import delete_drafts, delete_old_backups, next_number


def make(folder, day, *, site="ours", is_scheduled=True, number=0):
    path = folder / f"windowseat-202611{day:02}-000000.backup"
    write_backup(path, version="1", contents={}, parts=[b"x"], site=site, is_scheduled=is_scheduled, number=number)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def clock_at(passed):
    """Return what stands in for the module `datetime` when so much time has *passed*."""

    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return dt.datetime(2026, 11, 1, tzinfo=tz) + passed

    return SimpleNamespace(datetime=Clock, UTC=dt.UTC)


def test_only_the_newest_of_this_site_s_own_are_kept(tmp_path):
    ours = [make(tmp_path, day) for day in (1, 2, 3, 4)]
    make(tmp_path, 5, site="another")
    make(tmp_path, 6, is_scheduled=False)
    (tmp_path / "windowseat-of-mine.backup").write_text("no backup")
    ours[0].rename(tmp_path / "renamed by hand")
    before = names(tmp_path)
    gone = delete_old_backups(tmp_path, site="ours", keep=2, newest=ours[3])
    assert gone == [ours[1]]
    assert names(tmp_path) == [name for name in before if name != ours[1].name]
    assert delete_old_backups(tmp_path, site="ours", keep=2, newest=ours[3]) == []


@pytest.mark.parametrize(("keep", "left"), [(1, 1), (2, 2), (9, 3)])
def test_the_one_just_made_stays_whatever_the_clock_says(tmp_path, keep, left):
    newest, *others = (make(tmp_path, day) for day in (1, 2, 3))
    delete_old_backups(tmp_path, site="ours", keep=keep, newest=newest)
    assert newest.exists()
    assert len(names(tmp_path)) == left
    assert others[-1].exists() == (left > 1)


def test_those_made_while_the_clock_was_wrong_are_deleted_in_the_order_in_which_they_were_made(tmp_path, monkeypatch):
    ours = []
    for day in (0, 1, 367, 368, 4, 5):  # a year ahead for two days
        monkeypatch.setattr(backup_file, "dt", clock_at(dt.timedelta(days=day)))
        number = next_number(tmp_path, site="ours") if day else 0  # the first is of a version without numbers
        ours.append(make(tmp_path, len(ours) + 1, number=number))
        delete_old_backups(tmp_path, site="ours", keep=3, newest=ours[-1])
        assert names(tmp_path) == [path.name for path in ours[-3:]]


@pytest.mark.parametrize("options", [{}, {"is_scheduled": False}, {"is_empty": True}])
def test_a_draft_is_deleted_once_its_process_is_gone(tmp_path, options):
    is_empty = options.pop("is_empty", False)
    newest, draft = make(tmp_path, 2), make(tmp_path, 1, **options)
    draft = draft.rename(tmp_path / backup_file.DRAFT.format(draft.name))
    if is_empty:
        draft.write_bytes(b"")
    with draft.open("rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        delete_drafts(tmp_path, site="ours")
        assert draft.exists()
    delete_drafts(tmp_path, site="ours")
    assert names(tmp_path) == [newest.name]


def test_a_draft_of_another_site_stays(tmp_path):
    draft = make(tmp_path, 1, site="another")
    draft = draft.rename(tmp_path / backup_file.DRAFT.format(draft.name))
    delete_drafts(tmp_path, site="ours")
    assert draft.exists()


def test_a_draft_that_was_deleted_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """By a process that makes a scheduled backup at the same moment."""
    target, seen = tmp_path / "windowseat-a.backup", []

    def lock_too_late(draft):
        if not seen:
            (tmp_path / backup_file.DRAFT.format(target.name)).unlink()
        seen.append(draft)
        return True

    monkeypatch.setattr(backup_file, "try_lock", lock_too_late)
    write_backup(target, version="1", contents={}, parts=[b"x"])
    assert len(seen) == 2
    assert names(tmp_path) == [target.name]


def test_a_pipe_of_such_a_name_is_not_waited_for(tmp_path):
    newest, pipe = make(tmp_path, 2), tmp_path / "windowseat-a.backup"
    draft = tmp_path / backup_file.DRAFT.format(pipe.name)
    os.mkfifo(pipe)
    os.mkfifo(draft)
    assert delete_old_backups(tmp_path, site="ours", keep=1, newest=newest) == []
    assert names(tmp_path) == sorted([newest.name, pipe.name, draft.name])
