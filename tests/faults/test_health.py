"""What `/readyz` and `/healthz` say while PostgreSQL or Redis is away in one of many ways, and how soon."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from contextlib import contextmanager

import psycopg
import pytest

from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.source import PROJECT

from .browsers import PASSWORD, Browser
from .frail_server import standing_still
from .goals import READINESS
from .processes import RedisProcess
from .sites import Site

pytestmark = pytest.mark.redis
SIGN_INS = 3


@pytest.fixture(scope="module")
def redis(redis_server_path):
    process = RedisProcess(redis_server_path)
    yield process
    process.kill()


@pytest.fixture(scope="module")
def site(frail_server, redis, upstream, tmp_path_factory):
    site = Site(frail_server.database, upstream, tmp_path_factory.mktemp("site"), REDIS_URL=redis.url, RUN_WORKER="off")
    site.serve()
    site.worker = site.run_worker()
    yield site
    site.end()


@pytest.fixture(autouse=True)
def _all_is_well(site):
    """Before each test, and so after the one before."""
    wait_for(lambda: ask(site) == (200, "ready"), "the site is ready")


def ask(site, address="/readyz"):
    """Return status and text; how long that took is measured."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(site.address + address, timeout=PATIENCE_SECONDS) as response:
            answer = response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        answer = error.code, error.read().decode()
    READINESS.measure(time.monotonic() - began)
    return answer


def check_says(site, status, text):
    """`/readyz` comes to say *text*, and `/healthz` says that the process is alive."""
    heard = []
    wait_for(lambda: heard.append(ask(site)) or heard[-1] == (status, text), f"{text}, not {heard[-1:]}")
    assert ask(site, "/healthz") == (200, "alive")


def test_a_paused_database_is_no_answer(site, frail_server):
    with frail_server.paused():
        check_says(site, 503, "the database does not answer")


def test_a_database_that_is_down_is_no_answer(site, frail_server):
    frail_server.kill()
    check_says(site, 503, "the database does not answer")
    frail_server.start()


def test_a_locked_table_is_told(site):
    address = site.database.address
    with psycopg.connect(dbname=site.database.name, **address) as connection:
        connection.execute("LOCK TABLE conversations_message IN ACCESS EXCLUSIVE MODE")
        check_says(site, 503, "a table of the database is locked")


def test_a_read_only_database_is_told(site):
    name = site.database.name
    site.database.rows(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    check_says(site, 503, "the database is read-only")
    with psycopg.connect(dbname=name, autocommit=True, **site.database.address) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")


def worker_health(site):
    command = [sys.executable, "manage.py", "worker_health"]
    ended = subprocess.run(command, cwd=PROJECT, env=os.environ | site.settings, capture_output=True, text=True)
    return ended.returncode


def test_a_dead_worker_is_a_degradation_and_its_health_check_fails(site):
    assert worker_health(site) == 0
    site.worker.kill()
    check_says(site, 200, "ready, degraded: worker")
    assert worker_health(site) == 1
    site.worker = site.run_worker()


@contextmanager
def killed(redis):
    redis.kill()
    try:
        yield
    finally:
        redis.start()


@pytest.mark.parametrize("away", ["killed", "paused"])
def test_without_redis_the_site_is_degraded_and_everyone_can_sign_in(site, redis, away, chance):
    person, attacker = (f"127.{chance.randint(1, 255)}.{chance.randint(0, 255)}.{number}" for number in (1, 2))
    with killed(redis) if away == "killed" else standing_still(redis.process.pid):
        check_says(site, 200, "ready, degraded: redis")
        for _ in range(SIGN_INS):
            email = f"{uuid.uuid4().hex[:8]}@example.org"
            Browser(site.address, comes_from=person).sign_up(email)
            browser = Browser(site.address, comes_from=person)
            browser.sign_in(email)
            assert browser.request("/conversations/")[0] == 200
            browser.request("/accounts/password/reset/")
            assert browser.request("/accounts/password/reset/", email=email)[0] == 200
        assert any(is_refused(site, email, attacker) for _ in range(10)), "attempts are counted"


def is_refused(site, email, attacker):
    """Try a wrong password, from an address of its own; say whether too many have been tried."""
    browser = Browser(site.address, comes_from=attacker)
    browser.request("/accounts/login/")
    status, page = browser.request("/accounts/login/", login=email, password=PASSWORD + "!")
    assert status in (200, 429), status
    return status == 429 or "Too many" in page
