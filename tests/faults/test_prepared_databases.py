"""The databases that others are copied from: when they are made, and which are dropped."""

from __future__ import annotations

import uuid

import psycopg
import pytest

from . import prepared_databases as module
from .databases import drop_database, new_database, statement
from .prepared_databases import prepared_databases


@pytest.fixture
def made(postgres, monkeypatch):
    """Names of those that are made, of another prefix than those that these tests run on, and with nothing in them."""
    made = []

    def make(server, *, used, migrated):
        for name in (f"{used}_unfinished", migrated):
            server.rows(statement("CREATE DATABASE {}", name))
        server.rows(statement("ALTER DATABASE {} RENAME TO {}", f"{used}_unfinished", used))
        made.append(used)

    monkeypatch.setattr(module, "PREFIX", f"faults_{uuid.uuid4().hex[:8]}_")
    monkeypatch.setattr(module, "make", make)
    monkeypatch.setattr(module.unflushed_postgres, "is_ours", lambda: True)
    yield made
    for name in stored(postgres):
        drop_database(postgres, name)


@pytest.fixture
def code(monkeypatch):
    """Say which code there is."""

    def say(letter):
        monkeypatch.setattr(module, "fingerprint", lambda role: letter * 16)

    say("a")
    return say


def stored(server):
    with psycopg.connect(dbname=server.name, autocommit=True, **server.address) as session:
        return module.names(session)


def use(server):
    with prepared_databases(server) as databases:
        return [databases.used.name, databases.migrated.name]


def test_they_are_made_once_for_the_same_code(postgres, made, code):
    names = use(postgres)
    assert use(postgres) == names == stored(postgres)
    assert len(made) == 1


def test_those_of_other_code_are_dropped_once_none_uses_them(postgres, made, code):
    with prepared_databases(postgres):
        code("b")
        use(postgres)
        assert len(stored(postgres)) == 4
    code("c")
    assert use(postgres) == stored(postgres)


def test_on_the_server_of_others_the_last_process_drops_them(postgres, made, code, monkeypatch):
    monkeypatch.setattr(module.unflushed_postgres, "is_ours", lambda: False)
    with prepared_databases(postgres) as outer:
        use(postgres)
        assert outer.used.name in stored(postgres)
    assert stored(postgres) == []


def test_what_a_killed_process_left_of_them_is_made_again(postgres, made, code, monkeypatch):
    use(postgres)
    killed_after_one(monkeypatch)
    code("b")
    with pytest.raises(KeyboardInterrupt):
        use(postgres)
    monkeypatch.setattr(module, "drop_database", drop_database)
    code("a")
    assert use(postgres) == stored(postgres)
    assert len(made) == 2


def killed_after_one(monkeypatch):
    def drop(server, name):
        drop_database(server, name)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "drop_database", drop)


def test_a_database_of_a_similar_name_is_left_alone(postgres, made, code):
    with new_database(postgres) as other:
        name = f"{module.PREFIX}of_mine"
        postgres.rows(statement("ALTER DATABASE {} RENAME TO {}", other.name, name))
        use(postgres)
        code("b")
        use(postgres)
        postgres.rows(statement("ALTER DATABASE {} RENAME TO {}", name, other.name))  # fails if it was dropped


def test_those_of_another_role_have_other_names():
    assert module.fingerprint("ada") != module.fingerprint("alice")
