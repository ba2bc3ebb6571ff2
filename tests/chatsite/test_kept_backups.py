"""Old backups: of those that this site made by schedule the newest are kept, and nothing else is deleted."""

from __future__ import annotations

import fcntl

import pytest

from chatsite.backups import backup_file
from chatsite.backups.backup_file import write_backup
from chatsite.backups.kept_backups import delete_old_backups


def make(folder, day, *, site="ours", is_scheduled=True):
    path = folder / f"windowseat-202611{day:02}-000000.backup"
    write_backup(path, version="1", contents={}, parts=[b"x"], site=site, is_scheduled=is_scheduled)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


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


def test_a_draft_is_deleted_once_its_process_is_gone(tmp_path):
    newest, draft = make(tmp_path, 2), make(tmp_path, 1)
    draft = draft.rename(tmp_path / backup_file.DRAFT.format(draft.name))
    with draft.open("rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        delete_old_backups(tmp_path, site="ours", keep=1, newest=newest)
        assert draft.exists()
    delete_old_backups(tmp_path, site="ours", keep=1, newest=newest)
    assert names(tmp_path) == [newest.name]
