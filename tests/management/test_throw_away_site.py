"""A site that lasts as long as a command: what one that was killed leaves is deleted by the next."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conversations.management.throw_away_site import throw_away_site
from tests.support.patience import wait_for
from tests.support.source import PROJECT

MAKE_ONE = """
import subprocess, sys
from pathlib import Path
from chatsite.parent_process import bind_to_parent
from conversations.management.throw_away_site import throw_away_site
with throw_away_site() as environment:
    Path(environment["VAR_DIR"]).mkdir()
    sleeping = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)"]
    subprocess.run(sleeping, preexec_fn=bind_to_parent())
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_what_a_killed_command_leaves_is_deleted_by_the_next_and_its_process_ends(temporary):
    command = subprocess.Popen([sys.executable, "-c", MAKE_ONE], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    assert command.stdout.readline() == "begun\n"
    [left] = temporary.iterdir()
    with throw_away_site() as environment:  # while that one is in use
        assert left.exists()
        [used] = {*temporary.iterdir()} - {left}
        assert Path(environment["VAR_DIR"]).parent == used
    command.kill()
    command.stdout.read()  # ends with the process that writes there
    wait_for(lambda: command.poll() is not None, "it is gone")
    assert [*temporary.iterdir()] == [left]
    with throw_away_site():
        assert not left.exists()
    assert [*temporary.iterdir()] == []
