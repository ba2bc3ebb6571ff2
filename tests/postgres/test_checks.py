from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest
from django.db import NotSupportedError, OperationalError
from django.db.utils import ConnectionHandler

from chatsite.postgres import checks
from chatsite.postgres.embedded.errors import did_not_start


def test_postgresql_15_is_new_enough_and_14_is_not():
    assert checks.check_version(15) == []
    assert [problem.id for problem in checks.check_version(14)] == ["postgres.E001"]


def test_a_server_without_pgvector_is_refused_with_a_hint():
    assert checks.check_extensions({"plpgsql", "vector"}, 15) == []
    [problem] = checks.check_extensions({"plpgsql"}, 15)
    assert problem.id == "postgres.E002"
    assert "postgresql-15-pgvector" in problem.hint


def test_a_new_database_that_can_t_store_every_language_is_refused_and_one_in_use_is_told():
    assert checks.check_encoding("UTF8", is_new=True) == []
    [new] = checks.check_encoding("LATIN1", is_new=True)
    [used] = checks.check_encoding("SQL_ASCII", is_new=False)
    assert (new.id, used.id) == ("postgres.E004", "postgres.W001")
    assert "ENCODING 'UTF8'" in new.hint


def test_a_server_too_old_for_django_is_too_old():
    [problem] = checks.report_failure("default", NotSupportedError("PostgreSQL 14 or later is required"))
    assert problem.id == "postgres.E001"


def test_a_failure_to_connect_is_one_sentence():
    [problem] = checks.report_failure("default", OperationalError("no route\nto the host\n"))
    assert problem.id == "postgres.E003"
    assert problem.msg == "The database 'default' can't be reached: no route"


@pytest.mark.parametrize(
    ("said", "advised"),
    [
        ('FATAL:  password authentication failed for user "site"', "Correct user and password"),
        ('FATAL:  database "chats" does not exist', "Correct the name"),
        ("FATAL:  remaining connection slots are reserved for roles", "Raise max_connections"),
        ("failed to resolve host 'db.invalid'", "Correct the host"),
        ("The embedded PostgreSQL did not start.", "See room and rights in VAR_DIR"),
        ("connection refused", "See that the server runs"),
    ],
)
def test_what_to_do_fits_the_failure_and_is_never_to_start_without_the_data(said, advised):
    [problem] = checks.report_failure("default", OperationalError(said))
    assert problem.hint.startswith(advised)
    assert "leave DATABASE_URL empty" not in problem.hint


def test_an_embedded_server_that_could_not_start_on_a_full_disk_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    assert f"The disk of {tmp_path} is full: make room" in str(did_not_start("It did not.", log=tmp_path / "log"))


@pytest.fixture
def unreachable(tmp_path, monkeypatch) -> str:
    pool = {"min_size": 1, "max_size": 2, "timeout": 15}
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": "seat", "HOST": str(tmp_path)}
    database["OPTIONS"] = {"pool": pool}
    monkeypatch.setattr(checks, "connections", ConnectionHandler({"default": database}))
    return "default"


def test_a_server_that_is_not_there_is_reported(unreachable, django_db_blocker):
    with django_db_blocker.unblock():
        [problem] = checks.check_databases(databases=[unreachable])
    assert problem.id == "postgres.E003"
    assert "No such file or directory" in problem.msg


def test_nothing_is_connected_to_unless_databases_are_named(unreachable):
    assert checks.check_databases(databases=None) == []


def test_the_embedded_database_passes_its_checks(start_user):
    user = start_user()
    user.send("check")
    assert user.reply() == {"rows": "System check identified no issues (0 silenced).\n"}


def test_an_embedded_database_that_does_not_start_is_reported(start_user, server):
    server.paths.data.parent.mkdir()
    server.paths.data.write_text("in the way")
    assert "postgres.E003" in start_user().error("check")
