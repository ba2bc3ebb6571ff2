"""`manage.py load_example`, as a real process on an empty folder: it may be the first command on a machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conversations.example import QUESTIONS
from tests.support.patience import PATIENCE_SECONDS
from tests.support.site_process import environment
from tests.support.source import PROJECT


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the command with options, on one site."""
    folder = tmp_path_factory.mktemp("example") / "var"

    def run_with(*options):
        command = [sys.executable, "manage.py", "load_example", *options]
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env=environment(VAR_DIR=folder),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run_with


def test_it_needs_nothing_prepared_and_says_what_to_ask(run):
    said = run()
    assert "“Conference guide” is there for everyone" in said
    assert all(question in said for question in QUESTIONS)


def test_it_may_be_run_again_and_taken_back(run):
    assert run() == run()
    assert run("--remove") == "“Conference guide” has been removed. Its conversations are kept.\n"
    assert run("--remove") == "There is no “Conference guide”.\n"
