"""Fixtures for all tests. What a test needs and this machine lacks skips it, with the command that installs it."""

from __future__ import annotations

import asyncio
import gc
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from tests.faults.databases import Database, server_address
from tests.faults.prepared_databases import PreparedDatabases, prepared_databases
from tests.support import unflushed_postgres
from tests.support.hypothesis_profile import load_profile

# The shell of Chromium draws the same pages without the windows around them, in two thirds of the time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
TESTS = Path(__file__).parent
TOOLS = {
    "namespaces": (("unshare",), "needs unshare, of util-linux: apt-get install util-linux"),
    "curl": (("curl",), "needs curl: apt-get install curl"),
    "browser": (BROWSERS, "needs Chromium: apt-get install chromium"),
    "firefox": (("firefox-esr", "firefox"), "needs Firefox: apt-get install firefox-esr"),
    "redis": (("redis-server",), "needs redis-server: apt-get install redis-server"),
    "nginx": (("nginx", "/usr/sbin/nginx"), "needs nginx: apt-get install nginx"),
    "prometheus": (("promtool",), "needs promtool: apt-get install prometheus"),
    "systemd": (("systemd-analyze",), "needs systemd-analyze: apt-get install systemd"),
    "faketime": (("faketime",), "needs libfaketime: apt-get install faketime"),
    "caddy": (("caddy",), "needs Caddy: apt-get install caddy"),
}

load_profile()
gc.disable()  # until all tests are collected: to look for cycles in them takes a fifth of that time, and finds few


@receiver(connection_created)
def _let_the_ledger_change(connection: Any, **signal: object) -> None:
    """Let tests date rows back. `tests.support.ledger.locked_ledger` gives the ledger as the product has it."""
    connection.connection.execute("SET conversations.ledger_may_change = 'on'")


@receiver(connection_created)
def _skip_flushing(**signal: object) -> None:
    unflushed_postgres.skip_flushing()


def find_tool(marker: str) -> str | None:
    """Return the path of the program that tests marked *marker* need."""
    names, _ = TOOLS[marker]
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return who gives out the tests where the processes take whole files, and None elsewhere."""
    from tests.support.distribution import WaitingTogether

    return WaitingTogether(config, log) if config.option.dist == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What takes longest is begun first, or all but one process would wait for it at the end: the faults, which stay
    # together, and the files without a folder, of which some are long.
    first = {TESTS / "faults": 0, TESTS: 1}
    items.sort(key=lambda item: first.get(item.path.parent, len(first)))
    missing = {marker: pytest.mark.skip(reason=TOOLS[marker][1]) for marker in TOOLS if not find_tool(marker)}
    for item in items:
        for marker, skip in missing.items():
            if item.get_closest_marker(marker):
                item.add_marker(skip)


def pytest_collection_finish() -> None:
    """Look for cycles again, but no more in the million objects that were made of the tests."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Path of the browser, for tests marked `browser`."""
    path = find_tool("browser")
    assert path is not None, "mark the test with `browser`"
    return path


@pytest.fixture(scope="session")
def firefox_path() -> str:
    """Path of the browser, for tests marked `firefox`."""
    path = find_tool("firefox")
    assert path is not None, "mark the test with `firefox`"
    return path


@pytest.fixture(scope="session")
def redis_server_path() -> str:
    """Path of the server, for tests marked `redis`."""
    path = find_tool("redis")
    assert path is not None, "mark the test with `redis`"
    return path


@pytest.fixture(scope="session")
def postgres() -> Database:
    """Where databases for whole sites are made."""
    return Database("postgres", server_address())


@pytest.fixture(scope="session")
def prepared(postgres: Database) -> Iterator[PreparedDatabases]:
    """Databases that others are copied from: migrating each would take longer than the tests."""
    with prepared_databases(postgres) as databases:
        yield databases


@pytest.fixture(scope="session")
def template(prepared: PreparedDatabases) -> Database:
    """A database that every whole site's is copied from."""
    return prepared.used


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, prepared: PreparedDatabases
) -> None:
    """pytest-django's: let the database that this process tests with be a copy as well."""
    from django.conf import settings

    settings.DATABASES["default"].setdefault("TEST", {})["TEMPLATE"] = prepared.migrated.name


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """pytest-django's, which drops the database at the end: until then a thread of asgiref's has a connection to it.

    That is the one thread in which `sync_to_async`, `aget` and the like of all tests are called. It lasts.
    """
    from asgiref.sync import sync_to_async
    from django.db import connections

    yield
    asyncio.run(sync_to_async(connections.close_all)())


@pytest.fixture(scope="session", autouse=True)
def _no_static_files() -> None:
    """Finding them all takes a tenth of a second for each `Client()` of a test; a test that wants them says so."""
    from django.conf import settings

    from tests.support import unused_static_files

    settings.SERVESTATIC_USE_FINDERS = settings.SERVESTATIC_USE_STATIC_ROOT = False
    unused_static_files.leave_out(pytest.MonkeyPatch())


@pytest.fixture(scope="session", autouse=True)
def _few_rows_are_deleted() -> None:
    """To truncate all tables takes longer than most tests."""
    from tests.support import emptied_tables

    emptied_tables.install()


@pytest.fixture(autouse=True)
def _forget_chosen_language() -> None:
    """A request in another language leaves it to the next one in the thread."""
    from django.utils import translation

    translation.deactivate()


@pytest.fixture(autouse=True)
def _nothing_is_known_of_language_models() -> None:
    """What a process has read or learned about counting does not reach the next test."""
    from conversations.services.language_models.calibration import known

    known.forget()
