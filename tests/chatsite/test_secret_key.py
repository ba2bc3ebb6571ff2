"""The secret key of a local site, and what is said where it can't be kept."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.secret_key import keep_secret_key, kept_secret_key, local_secret_key
from tests.support.source import PROJECT


def test_the_key_is_made_once_and_read_by_its_owner_alone(tmp_path):
    folder = tmp_path / "not" / "there"
    key = local_secret_key(folder)
    assert len(key) >= 50
    assert local_secret_key(folder) == key
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff\xfe" * 40])
def test_what_is_no_key_is_refused_and_kept(tmp_path, content):
    (tmp_path / "secret_key").write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match="secret key"):
        local_secret_key(tmp_path)
    assert (tmp_path / "secret_key").read_bytes() == content


def test_a_folder_that_cannot_be_used_is_one_sentence_and_no_traceback(tmp_path):
    (tmp_path / "file").touch()
    command = [sys.executable, "manage.py", "check"]
    environment = {"VAR_DIR": str(tmp_path / "file" / "folder"), "PATH": "/usr/bin:/bin"}
    outcome = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("A setting is wrong: the secret key can't be kept in VAR_DIR")
    assert outcome.stderr.count("\n") == 1


def test_a_key_of_another_account_asks_for_its_owner_and_not_for_another_key(tmp_path, monkeypatch):
    local_secret_key(tmp_path)

    def refuse(path, **options):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(ImproperlyConfigured, match="belong to the account") as refused:
        local_secret_key(tmp_path)
    assert "Set VAR_DIR" not in str(refused.value)


def test_a_key_that_takes_the_place_of_another_leaves_that_beside_it(tmp_path):
    (tmp_path / "secret_key").write_text("own" * 20)
    assert local_secret_key(tmp_path) == "own" * 20
    before = keep_secret_key(tmp_path, "another" * 10)
    assert kept_secret_key(tmp_path) == "another" * 10
    assert before.read_text() == "own" * 20


def test_a_key_that_was_made_a_moment_ago_leaves_nothing(tmp_path):
    local_secret_key(tmp_path)
    assert keep_secret_key(tmp_path, "another" * 10) is None
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
    assert keep_secret_key(tmp_path, "a third" * 10).read_text() == "another" * 10


def test_another_process_of_the_same_number_does_not_share_the_draft(tmp_path):
    """As in two containers with one folder, or where someone laid a link to another file at a name to be guessed."""
    folder, other = tmp_path / "var", tmp_path / "other"
    folder.mkdir()
    other.write_text("left alone")
    (folder / f"secret_key.{os.getpid()}").symlink_to(other)
    key = local_secret_key(folder)
    keep_secret_key(folder, key)
    assert other.read_text() == "left alone"
    assert not (folder / "secret_key").is_symlink()
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600
