"""Commands that a person or a system ends in their midst clear away what they have begun."""

from __future__ import annotations

import signal

import psycopg
import pytest

from tests.faults.databases import new_database
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.site_commands import processes_of, start_command

HELD_UP = "CREATE SCHEMA held; CREATE TABLE held.up ()"
DUMPS = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND application_name = 'pg_dump'"


@pytest.fixture
def held_up(postgres, template):
    """A site whose database no dump gets through."""
    with new_database(postgres, template=template.name) as database:
        database.rows(HELD_UP)
        with psycopg.connect(dbname=database.name, **database.address) as holder:
            holder.execute("LOCK TABLE held.up IN ACCESS EXCLUSIVE MODE")
            yield database


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_backup_that_is_ended_leaves_no_program_and_no_draft_for_long(held_up, tmp_path, number):
    settings = {"DATABASE_URL": held_up.url, "VAR_DIR": tmp_path / "var", "BACKUP_FOLDER": tmp_path / "backups"}
    command = start_command("backup", "--scheduled", **settings)
    wait_for(lambda: held_up.value(DUMPS, held_up.name), "it is held up")
    [dump] = processes_of("pg_dump", parent=command.pid)
    command.send_signal(number)
    said, _ = command.communicate(timeout=PATIENCE_SECONDS)
    wait_for(lambda: dump not in processes_of("pg_dump"), "pg_dump has ended")
    left = list((tmp_path / "backups").iterdir())
    if number == signal.SIGKILL:
        assert len(left) == 1
        again = start_command("backup", "--scheduled", **settings)
        wait_for(lambda: not left[0].exists(), "the next one has deleted the draft before it needs the room")
        again.kill()
        again.communicate()
    else:
        assert (command.returncode, left) == (128 + number, [])
        assert said.splitlines()[-1] == f"Ended by {number.name}."
        assert "Traceback" not in said
