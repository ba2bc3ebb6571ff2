from __future__ import annotations

import datetime as dt
import threading

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient
from django.utils import timezone
from psycopg import errors

from chatsite.health.database_probe import USE_DISK, connect_briefly, reason_of
from chatsite.health.probe import OK, Finding, Probe
from chatsite.health.readiness import close_probes
from chatsite.middleware import health
from chatsite.schema.history import CREATE_TABLE
from conversations.models import Run, WorkerHeartbeat
from conversations.runs.claim import claim_runs
from conversations.selectors.figures.worker_status import WorkerStatus
from conversations.worker_probe import judge_workers
from tests.faults.databases import new_database
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.people import begin, make_user, post

OLDER = (
    "The database is older than this version of Windowseat: 1 migration is not applied. "
    "Run manage.py upgrade, or start a web process with MIGRATE_ON_START on."
)
committed = pytest.mark.django_db(transaction=True)  # the probes have connections of their own


@pytest.fixture(autouse=True)
def _fresh_probes():
    close_probes()
    yield
    close_probes()


@pytest.fixture
def worker(transactional_db):
    WorkerHeartbeat.objects.create(name="here:1:abc")


def execute(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def other_session():
    parameters = connection.get_connection_params()
    return psycopg.connect(**{name: parameters[name] for name in ("dbname", "user", "host", "port")})


def said(client):
    response = client.get("/readyz")
    return response.status_code, response.content.decode()


@pytest.mark.parametrize("address", ["/healthz", "/livez"])
def test_liveness_asks_no_database_and_no_host(client, address):
    response = client.get(address, headers={"host": "10.1.2.3"})
    assert (response.status_code, response.content) == (200, b"alive")
    assert not response.cookies


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_probes_are_plain_text_to_browsers_and_in_no_frame(client, worker, address):
    headers = client.get(address).headers
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_the_site_is_ready_when_all_is_well(client, worker):
    assert client.get("/readyz", headers={"host": "10.1.2.3"}).content == b"ready"


@committed
def test_a_site_without_a_worker_is_ready_and_says_so(client):
    assert said(client) == (200, "ready, degraded: worker")


def test_json_is_answered_to_who_asks_for_it(client, worker):
    response = client.get("/readyz", headers={"accept": "application/json"})
    assert response.json()["status"] == "ready"
    assert response.json()["checks"]["database"] == {"state": "ok", "reason": ""}


def test_a_redis_that_is_away_is_a_degradation(client, worker, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1"
    assert said(client) == (200, "ready, degraded: redis")


@committed
def test_the_log_tells_once_that_the_site_is_not_ready_and_once_that_it_is_again(client, worker, caplog, monkeypatch):
    monkeypatch.setattr(health, "readiness_log", health.ReadinessLog())
    caplog.set_level("INFO")
    MigrationRecorder(connection).record_unapplied("accounts", "0001_initial")
    try:
        assert {client.get("/readyz").status_code for _ in range(3)} == {503}
    finally:
        MigrationRecorder(connection).record_applied("accounts", "0001_initial")
    wait_for(lambda: client.get("/readyz").status_code == 200)
    client.get("/readyz")
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert lines == [("WARNING", f"/readyz says: {OLDER}"), ("INFO", "/readyz says: ready")]


@committed
def test_the_site_is_not_ready_while_a_migration_waits(client):
    MigrationRecorder(connection).record_unapplied("accounts", "0001_initial")
    try:
        response = client.get("/readyz")
    finally:
        MigrationRecorder(connection).record_applied("accounts", "0001_initial")
    assert (response.status_code, response.content.decode()) == (503, OLDER)
    assert response["Retry-After"]


def test_a_database_of_later_code_that_has_all_columns_is_a_degradation(client, worker):
    MigrationRecorder(connection).record_applied("accounts", "9999_later")
    try:
        assert said(client) == (200, "ready, degraded: database")
        found = client.get("/readyz", headers={"accept": "application/json"}).json()["checks"]["database"]
        assert found["reason"].startswith("The database was made by a later version of Windowseat, and this is ")
    finally:
        MigrationRecorder(connection).record_unapplied("accounts", "9999_later")


@pytest.mark.parametrize(
    ("change", "undo", "sentence"),
    [
        (
            "ALTER TABLE accounts_user RENAME COLUMN role TO roll",
            "ALTER TABLE accounts_user RENAME COLUMN roll TO role",
            "accounts_user has no column role",
        ),
        (
            "ALTER TABLE conversations_passage RENAME TO conversations_piece",
            "ALTER TABLE conversations_piece RENAME TO conversations_passage",
            "the table conversations_passage is missing",
        ),
        (
            "ALTER TABLE accounts_attemptcount ADD COLUMN shoe integer NOT NULL",
            "ALTER TABLE accounts_attemptcount DROP COLUMN shoe",
            "accounts_attemptcount needs a column shoe that this code doesn't know",
        ),
    ],
)
@committed
def test_a_database_of_another_version_of_the_code_is_told(client, change, undo, sentence):
    execute(change)
    try:
        status, text = said(client)
        assert status == 503
        assert text.startswith(f"The database is not as its migrations have made it: {sentence}. ")
    finally:
        execute(undo)


@committed
def test_a_database_without_pgvector_is_told(client, postgres, template, monkeypatch):
    applied = template.rows("SELECT app, name, applied FROM django_migrations")
    made = template.rows("SELECT app, name, checksum, version, began_at, ended_at FROM windowseat_migrations")
    with new_database(postgres, template="template0") as database:
        database.rows("CREATE TABLE django_migrations (app text, name text, applied timestamptz)")
        for row in applied:
            database.rows("INSERT INTO django_migrations VALUES (%s, %s, %s)", *row.values())
        database.rows(CREATE_TABLE)
        for row in made:
            database.rows("INSERT INTO windowseat_migrations VALUES (%s, %s, %s, %s, %s, %s)", *row.values())
        monkeypatch.setitem(connection.settings_dict, "NAME", database.name)
        try:
            status, text = said(client)
            assert status == 503
            assert text.startswith("The extension pgvector is missing in the database. As a superuser in it: CREATE")
        finally:
            close_probes()


@committed
def test_a_locked_table_is_told(client):
    with other_session() as other:
        other.execute("LOCK TABLE conversations_message IN ACCESS EXCLUSIVE MODE")
        assert said(client) == (503, "a table of the database is locked")


def test_a_database_without_a_free_connection_is_told(client, worker):
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    execute(f"ALTER DATABASE {name} CONNECTION LIMIT 0")  # of new ones
    try:
        assert said(client) == (503, "the database has no free connection")
    finally:
        execute(f"ALTER DATABASE {name} CONNECTION LIMIT -1")


def test_a_read_only_database_is_told_and_is_ready_again_afterwards(client, worker):
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    try:
        assert said(client) == (503, "the database is read-only")
    finally:
        execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    close_probes()
    assert said(client) == (200, "ready")


def test_a_connection_that_was_ended_is_replaced(client, worker, monkeypatch):
    assert said(client) == (200, "ready")
    execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'windowseat health'")
    wait_for(lambda: not sessions_of_the_probe(), "it is ended")
    monkeypatch.setattr("chatsite.health.probe.FRESH_SECONDS", 0)
    assert said(client) == (200, "ready")
    assert sessions_of_the_probe()


def sessions_of_the_probe():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'windowseat health'")
        return cursor.fetchall()


@committed
async def test_both_are_answered_on_the_event_loop():
    client = AsyncClient()
    assert (await client.get("/healthz")).content == b"alive"
    assert (await client.get("/readyz")).content == b"ready, degraded: worker"
    await sync_to_async(connections.close_all)()


def test_a_probe_that_does_not_answer_is_asked_once_and_given_up_once():
    begun, ended, given_up = threading.Semaphore(0), threading.Event(), []
    silence = Finding("down", "silent")

    def look():
        begun.release()
        ended.wait()
        return OK

    probe = Probe("slow", look, silence=silence, give_up=lambda: given_up.append(1))
    first, second = probe.start(), probe.start()
    assert first is second
    assert begun.acquire()
    assert [probe.result_of(first), probe.result_of(second)] == [silence, silence]
    assert given_up == [1]
    assert not begun.acquire(blocking=False)
    ended.set()
    assert first.result() == OK


def test_a_finding_is_kept_for_a_moment():
    looks = []
    probe = Probe("quick", lambda: looks.append(1) or OK, silence=Finding("down"))
    assert [probe.start().result(), probe.start().result()] == [OK, OK]
    assert looks == [1]


def test_a_probe_whose_thread_can_not_be_started_is_asked_again(monkeypatch):
    probe = Probe("quick", lambda: OK, silence=Finding("down", "it does not answer"))
    monkeypatch.setattr("chatsite.health.probe.FRESH_SECONDS", 0.0)
    with monkeypatch.context() as without_threads:
        without_threads.setattr(threading.Thread, "start", refuse_to_start)
        found = probe.start().result(timeout=PATIENCE_SECONDS)
        assert found == Finding("down", "this process can start no thread")  # the database may well answer
    assert probe.start().result(timeout=PATIENCE_SECONDS) is OK


def refuse_to_start(thread):
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize(("error", "reason"), [
    (errors.InsufficientPrivilege(), "the database's role lacks rights to the tables"),
    (errors.DiskFull("could not write to file"), "the database's disk is full"),
    (psycopg.OperationalError("connection is lost"), "the database does not answer"),
])  # fmt: skip
def test_each_reason_is_told_as_one_sentence(error, reason):
    assert reason_of(error) == reason


def test_a_look_writes_to_the_disk_of_the_data():
    """Or a full disk would not be told: reading works there."""
    with connect_briefly() as session:
        plan = session.execute(f"EXPLAIN (ANALYZE) {USE_DISK}").fetchall()
    assert "external merge  Disk" in str(plan)


@pytest.mark.parametrize(("alive", "waited", "lease_over", "reason"), [
    (1, None, 0.0, ""),
    (1, 29.0, 14.0, ""),
    (1, 31.0, 0.0, "a reply has waited for a worker for 31 seconds"),
    (1, None, 16.0, "the lease of a reply has been over for 16 seconds"),
    (0, 31.0, 16.0, "no worker is alive; 2 replies wait for one"),
])  # fmt: skip
def test_what_waits_too_long_is_told(alive, waited, lease_over, reason):
    status = WorkerStatus(alive, None, waiting=2, oldest_waiting_seconds=waited)
    found = judge_workers(status, lease_over)
    assert (found.state, found.reason) == ("degraded" if reason else "ok", reason)


@committed
def test_a_lease_that_is_long_over_is_told(client, worker):
    reply = post(begin(make_user("alice")), "Hello").reply
    claim_runs("here:1:abc", limit=1)
    Run.objects.filter(reply=reply).update(lease_until=timezone.now() - dt.timedelta(minutes=1))
    found = client.get("/readyz", headers={"accept": "application/json"}).json()["checks"]["worker"]
    assert found["state"] == "degraded"
    assert found["reason"].startswith("the lease of a reply has been over for 6")
