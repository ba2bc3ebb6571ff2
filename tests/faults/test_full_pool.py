"""All connections to the database are taken: who comes now is told to try again, in the form that was asked for."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager

import psycopg
import pytest

from tests.support.patience import PATIENCE_SECONDS, wait_for

WAITING = "SELECT count(*) >= %s FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
POOL_SIZE = 2


@pytest.fixture
def small_site(new_site):
    site = new_site(DATABASE_POOL_SIZE=str(POOL_SIZE), DATABASE_WAIT_SECONDS="1")
    site.serve()
    return site


@contextmanager
def conversations_locked(database):
    """Let every statement that reads a conversation wait, with its connection."""
    with psycopg.connect(dbname=database.name, **database.address) as connection:
        connection.execute("LOCK TABLE conversations_conversation IN ACCESS EXCLUSIVE MODE")
        yield


def get_list(browser, accept):
    """Ask for the list of conversations; return status, Retry-After and body."""
    connection = http.client.HTTPConnection(browser.address.removeprefix("http://"), timeout=PATIENCE_SECONDS)
    connection.request("GET", "/conversations/", headers={"Cookie": browser.cookie_header, "Accept": accept})
    response = connection.getresponse()
    return response.status, response.headers["Retry-After"], response.read().decode()


def test_a_full_pool_is_503_with_retry_after_in_the_form_that_was_asked_for(small_site):
    crowd, late = [small_site.sign_up() for _ in range(POOL_SIZE)], small_site.sign_up()
    answers = []
    threads = [
        threading.Thread(target=lambda browser=browser: answers.append(get_list(browser, "text/html")))
        for browser in crowd
    ]
    with conversations_locked(small_site.database):
        for thread in threads:
            thread.start()
        wait_for(lambda: small_site.database.value(WAITING, POOL_SIZE), "all connections wait for the lock")
        status, retry_after, body = get_list(late, "application/json")
        assert (status, json.loads(body)["code"]) == (503, "site_busy")
        assert int(retry_after) > 0
        status, retry_after, body = get_list(late, "text/html")
        assert (status, int(retry_after) > 0) == (503, True)
        assert "<h1>" in body
    for thread in threads:
        thread.join()
    assert {status for status, *_ in answers} <= {200, 503}  # a lock that is held for long is a reason, too
    assert get_list(late, "text/html")[0] == 200
