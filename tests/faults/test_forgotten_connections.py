"""Open connections to PostgreSQL that are dead: a firewall forgot them, the host is gone, an address has moved."""

from __future__ import annotations

import time
import uuid
from contextlib import suppress

import pytest

from chatsite.postgres.embedded.server_files import PORT
from tests.support.patience import wait_for

from .conftest import checked
from .databases import Database
from .goals import CLAIMED_AFTER_DEAD_CONNECTIONS, GONE, SENT_AFTER_DEAD_CONNECTIONS
from .network import ForgetfulProxy
from .sites import Site

RUNNING = "SELECT state <> 'waiting' FROM conversations_run WHERE reply_id = %s"


class ProxiedDatabase(Database):
    """A database that the site reaches over *proxy*, and the test directly."""

    def __init__(self, database: Database, proxy: ForgetfulProxy) -> None:
        super().__init__(database.name, database.address)
        self._proxy = proxy

    @property
    def url(self) -> str:
        return f"postgresql://{self.address['user']}@127.0.0.1:{self._proxy.port}/{self.name}"


@pytest.fixture(scope="module")
def proxy(postgres):
    proxy = ForgetfulProxy(f"{postgres.address['host']}/.s.PGSQL.{PORT}")
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def proxied_site(make_site, proxy):
    """A site with a web process and two workers, all of which reach their database over the proxy."""
    with make_site(RUN_WORKER="off") as direct:
        site = Site(ProxiedDatabase(direct.database, proxy), direct.upstream, direct.log.parent, RUN_WORKER="off")
        try:
            site.serve()
            site.run_worker()
            site.run_worker()
            yield site
        finally:
            site.end()


@pytest.fixture
def site(proxied_site):
    with checked(proxied_site):
        yield proxied_site


def test_messages_are_sent_and_replies_made_soon_after_all_connections_were_forgotten(site, proxy, chance):
    site.answer_with("held-60")
    begun = [site.ask(site.open_page(), "held-60") for _ in range(3)]
    site.answer_with("ok")
    browser, conversation, client_id = site.browser, site.begin(), str(uuid.uuid4())
    time.sleep(chance.random())  # at any point of what workers do each second
    assert proxy.forget() >= 3
    at = time.monotonic()
    stored = wait_for(lambda: send(browser, conversation, client_id), "a message can be sent")
    SENT_AFTER_DEAD_CONNECTIONS.measure(time.monotonic() - at)
    wait_for(lambda: site.database.value(RUNNING, stored["reply"]), "its reply is claimed")
    CLAIMED_AFTER_DEAD_CONNECTIONS.measure(time.monotonic() - at)
    assert site.wait_for_end(stored["reply"])["state"] == "complete"
    site.upstream.release()
    assert {site.wait_for_end(reply)["state"] for reply in begun} == {"complete"}


def test_sigterm_ends_a_worker_whose_connections_were_forgotten(site, proxy):
    worker = site.run_worker()
    assert proxy.forget() >= 1
    at = time.monotonic()
    worker.terminate()
    worker.wait()
    GONE.measure(time.monotonic() - at)


def send(browser, conversation, client_id):
    """Send a message, or send it again; returns what was stored, or None as long as it is refused."""
    with suppress(OSError, ValueError):  # an error of the server is a page
        status, answer = browser.post(conversation, "Are you there?", client_id)
        return answer if status in (200, 201) else None
    return None
