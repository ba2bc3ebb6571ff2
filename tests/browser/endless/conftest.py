"""A site whose language model goes on until it is told to end: for all that happens in the middle of a reply."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.sites import Site, running_site
from tests.faults.databases import Database, new_database
from tests.support.upstream import Upstream, serve_upstream

ENDLESS = "endless-20"


@pytest.fixture(scope="package")
def running_provider() -> Iterator[Upstream]:
    with serve_upstream() as running:
        yield running


@pytest.fixture
def provider(running_provider: Upstream) -> Iterator[Upstream]:
    """The provider of replies: each goes on until `provider.release()`, at the latest until the test ends."""
    running_provider.reset()
    yield running_provider
    running_provider.release()


@pytest.fixture(scope="package")
def site(
    postgres: Database, template: Database, tmp_path_factory: pytest.TempPathFactory, running_provider: Upstream
) -> Iterator[Site]:
    settings = {
        "OPENAI_BASE_URL": running_provider.base_url,
        "OPENAI_API_KEY": "sk-test",
        "LANGUAGE_MODELS": f"{ENDLESS} context_window=16384 encoding=o200k_base",
        "MESSAGES_PER_MINUTE": 0,
    }
    folder = tmp_path_factory.mktemp("endless")
    with (
        new_database(postgres, template=template.name) as database,
        running_site(database, folder, **settings) as running,
    ):
        database.rows("UPDATE conversations_scenario SET language_model = %s", ENDLESS)
        yield running
