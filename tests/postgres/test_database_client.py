"""The program of `manage.py dbshell`."""

from __future__ import annotations

from chatsite.postgres.base import DatabaseClient
from chatsite.postgres.embedded.server import program

ELSEWHERE = {"NAME": "seat", "HOST": "db.example", "PORT": "5432", "USER": "seat", "PASSWORD": "", "OPTIONS": {}}


def test_the_embedded_server_has_its_own_psql(tmp_path):
    [first, *_], _ = DatabaseClient.settings_to_cmd_args_env(ELSEWHERE | {"EMBEDDED_DIR": tmp_path}, [])
    assert first == str(program("psql"))


def test_another_database_is_shown_by_the_psql_that_is_installed():
    arguments, _ = DatabaseClient.settings_to_cmd_args_env(ELSEWHERE, ["-l"])
    assert (arguments[0], arguments[-2:]) == ("psql", ["-l", "seat"])
