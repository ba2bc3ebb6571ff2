import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient


def test_liveness_asks_no_database_and_no_host(client):
    response = client.get("/healthz", headers={"host": "10.1.2.3"})
    assert (response.status_code, response.content) == (200, b"alive")
    assert not response.cookies


@pytest.mark.django_db
def test_the_site_is_ready_when_all_migrations_are_applied(client):
    assert client.get("/readyz", headers={"host": "10.1.2.3"}).content == b"ready"


@pytest.mark.django_db
def test_the_site_is_not_ready_while_a_migration_waits(client):
    MigrationRecorder(connection).record_unapplied("accounts", "0001_initial")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert b"not applied" in response.content


@pytest.mark.django_db(transaction=True)
def test_the_site_is_not_ready_when_the_database_hangs_up(client):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    parameters = connection.get_connection_params()
    with psycopg.connect(**{k: parameters[k] for k in ("dbname", "user", "host", "port")}) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    response = client.get("/readyz")
    connection.close()
    assert response.status_code == 503


@pytest.mark.django_db(transaction=True)
async def test_both_are_answered_on_the_event_loop():
    client = AsyncClient()
    assert (await client.get("/healthz")).content == b"alive"
    assert (await client.get("/readyz")).content == b"ready"
    await sync_to_async(connections.close_all)()
