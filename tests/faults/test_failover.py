"""PostgreSQL becomes read-only for seconds in the middle of replies, as a failover looks: none is interrupted."""

from __future__ import annotations

import time

import pytest

from .conftest import checked
from .databases import TERMINATE

REPLIES = 10
READ_ONLY_SECONDS = 8
MOST_LOG_BYTES = 20_000


@pytest.fixture(scope="module")
def failing_site(make_site):
    """A site with a web process and two workers, and a database of its own."""
    with make_site(RUN_WORKER="off") as site:
        site.serve()
        site.run_worker()
        site.run_worker()
        yield site


@pytest.fixture
def site(failing_site):
    with checked(failing_site):
        yield failing_site


def make_read_only(site):
    """Let all new transactions be read-only, also those of connections that are made before it ends."""
    site.database.rows(f"ALTER DATABASE {site.database.name} SET default_transaction_read_only = on")
    site.database.rows(TERMINATE, site.database.name)


def make_writable(site):
    """As the new primary: connections that were made meanwhile stay read-only for as long as they are open."""
    site.database.rows("SET default_transaction_read_only = off")
    statement = f"ALTER DATABASE {site.database.name} RESET default_transaction_read_only"
    site.database.rows(f"BEGIN READ WRITE; {statement}; COMMIT")


def test_replies_go_on_while_the_database_is_read_only(site, chance):
    """They end meanwhile, and some begin: the text is all that came, and usage what was reported."""
    said_before = site.log.stat().st_size
    pages = [site.open_page() for _ in range(REPLIES)]
    replies = [site.ask(page, ("held-60", "endless-20")[number % 2]) for number, page in enumerate(pages[:-3])]
    site.answer_with("ok")
    for page in pages[-3:]:  # of these not even the request may have left
        page.post()
    replies += [page.answer()["reply"] for page in pages[-3:]]
    time.sleep(chance.random() / 5)
    make_read_only(site)
    try:
        time.sleep(READ_ONLY_SECONDS / 2)
        site.upstream.release()
        time.sleep(READ_ONLY_SECONDS / 2)
    finally:
        make_writable(site)
    assert [site.wait_for_end(reply)["state"] for reply in replies] == ["complete"] * REPLIES
    for reply in replies:
        [row] = site.ledger(reply)
        assert row["usage_estimated"] is False
    said = site.log.stat().st_size - said_before
    assert said < MOST_LOG_BYTES, site.log.read_text()[-said:]
