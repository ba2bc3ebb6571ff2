"""What is said of a disk where a copy of a database has failed on it."""

from __future__ import annotations

import shutil

from conversations.management.room import explain_failure, free_bytes

MB = 2**20


def test_a_disk_that_was_too_small_is_told_beside_the_reason():
    told = explain_failure("psql ended with 2.", "TMPDIR, /tmp/x,", free=120 * MB, database_bytes=100 * MB)
    assert told == (
        "psql ended with 2. The disk may be full: TMPDIR, /tmp/x, needs about 250 MB, and 120 MB were free."
    )


def test_one_with_room_is_not():
    assert explain_failure("It is damaged.", "x", free=251 * MB, database_bytes=100 * MB) == "It is damaged."


def test_the_room_of_a_folder_that_is_still_to_be_made_is_that_of_its_disk(tmp_path):
    assert abs(free_bytes(tmp_path / "a" / "b") - shutil.disk_usage(tmp_path).free) < 1_000 * MB
