"""Errors of the server in the form that was asked for, and 503 while the database is away."""

from __future__ import annotations

import logging

import pytest
from django.db import InternalError, OperationalError
from django.test import Client, override_settings
from django.urls import path
from psycopg.errors import ReadOnlySqlTransaction
from psycopg_pool import PoolTimeout

JSON = {"accept": "application/json"}
ERRORS = {}


def fail(request, name):
    raise ERRORS[name]


def read_only():
    error = InternalError("cannot execute INSERT in a read-only transaction")
    error.__cause__ = ReadOnlySqlTransaction()
    return error


def pool_full():
    error = OperationalError("couldn't get a connection after 5.00 sec")
    error.__cause__ = PoolTimeout()
    return error


ERRORS.update(away=OperationalError("timed out"), read_only=read_only(), pool_full=pool_full(), bug=ValueError("a bug"))


class Urls:
    from chatsite.urls import handler400, handler403, handler404, handler500, urlpatterns

    urlpatterns = [path("fail/<name>/", fail), *urlpatterns]


@pytest.fixture
def client():
    return Client(raise_request_exception=False)


@override_settings(ROOT_URLCONF=Urls)
@pytest.mark.parametrize(
    ("name", "code"), [("away", "unavailable"), ("read_only", "unavailable"), ("pool_full", "site_busy")]
)
def test_a_database_that_is_away_is_503_and_one_line_of_the_log(client, db, name, code, caplog):
    response = client.get(f"/fail/{name}/", headers=JSON)
    assert (response.status_code, response.json()["code"]) == (503, code)
    assert response["Retry-After"]
    assert [record.exc_info for record in caplog.records if record.levelno >= logging.WARNING] == [None]
    page = client.get(f"/fail/{name}/", headers={"accept": "text/html"})
    assert page.status_code == 503
    assert b"Nothing is lost" in page.content


@override_settings(ROOT_URLCONF=Urls)
def test_our_own_fault_is_500_in_the_form_that_was_asked_for(client, db):
    assert client.get("/fail/bug/", headers=JSON).json()["code"] == "error"
    assert b"<h1>Something went wrong" in client.get("/fail/bug/").content


def test_what_is_not_there_is_json_to_who_asks_for_it(client, db):
    response = client.get("/nowhere/", headers=JSON)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("host", ["evil.example", "a b", "[::1", "x:99999999"])
def test_a_bad_host_is_400_and_one_line_of_the_log(client, db, settings, host, caplog):
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    assert client.get("/", headers={"host": host}).status_code == 400
    [record] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "\n" not in caplog.handler.format(record)
