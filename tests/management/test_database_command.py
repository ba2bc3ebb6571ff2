"""Commands that work with the site's database: a database that fails in the middle of one is a sentence."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError
from django.db import OperationalError, ProgrammingError
from psycopg import errors

from conversations.management import database_command
from conversations.management.database_command import DatabaseCommand


def run(error, monkeypatch):
    class Failing(DatabaseCommand):
        def handle(self, **options):
            raise error

    monkeypatch.setattr(database_command, "require_database", lambda: None)
    Failing().execute(no_color=True, force_color=False, skip_checks=True)


def test_a_disk_that_is_full_in_the_middle_is_one_sentence(monkeypatch):
    error = OperationalError("could not write to file: No space left on device")
    error.__cause__ = errors.DiskFull()
    with pytest.raises(CommandError, match=r"can't be used: could not write to file: No space left"):
        run(error, monkeypatch)


def test_a_fault_of_the_program_keeps_its_traceback(monkeypatch):
    error = ProgrammingError("no such column")
    error.__cause__ = errors.UndefinedColumn()
    with pytest.raises(ProgrammingError):
        run(error, monkeypatch)
