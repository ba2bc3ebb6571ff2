"""Fixtures for faults: real processes, a fake provider, and the oracles after every test.

site          one for all tests that leave its processes alone
new_site      a function that makes a site of one's own, whose processes may be killed
FAULT_ROUNDS  how often the tests that kill, resend and leave are repeated; 1 unless told otherwise
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from random import Random

import pytest

from tests.upstream import Upstream, serve_upstream

from .browsers import Browser
from .databases import Database, new_database
from .oracles import check_everything
from .pages import Page
from .sites import Site

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
# The server's and Django's own words about a client that sent nonsense come with a traceback; nothing else does.
UNEXPECTED = re.compile(r"^(?!.*(?:Invalid UTF-8 sequence|RequestDataTooBig)).*\nTraceback", re.MULTILINE)
MakeSite = Callable[..., AbstractContextManager[Site]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "chance" in metafunc.fixturenames:
        metafunc.parametrize("chance", [Random(seed) for seed in range(ROUNDS)], ids=lambda _: "")


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    with serve_upstream() as running:
        yield running


@pytest.fixture(scope="session")
def make_site(
    postgres: Database, template: Database, upstream: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> MakeSite:
    """A context manager that makes a site with the settings it is given, and no process yet."""

    @contextmanager
    def make(**settings: str) -> Iterator[Site]:
        with new_database(postgres, template=template.name) as database:
            site = Site(database, upstream, tmp_path_factory.mktemp("site"), **settings)
            yield site
            site.end()

    return make


@pytest.fixture(scope="session")
def shared_site(make_site: MakeSite) -> Iterator[Site]:
    with make_site(OPENAI_TIMEOUT_SECONDS="1") as site:
        site.process = site.serve()
        yield site


@pytest.fixture(scope="session")
def shared_browser(shared_site: Site) -> Browser:
    return shared_site.sign_up()


@pytest.fixture
def site(shared_site: Site, shared_browser: Browser) -> Iterator[Site]:
    """The shared site; afterwards all that the test did to it is checked, and that nothing raised."""
    with checked(shared_site):
        before = shared_site.log.stat().st_size
        yield shared_site
    said = shared_site.log.read_text()[before:]
    assert not UNEXPECTED.search(said), said


@pytest.fixture
def page(site: Site, shared_browser: Browser) -> Page:
    """A page with a new conversation on the shared site."""
    return site.open_page(shared_browser)


@pytest.fixture
def new_site(make_site: MakeSite) -> Iterator[Callable[..., Site]]:
    """A function that makes a site for one test, with the oracles."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(checked(stack.enter_context(make_site(**settings))))


@contextmanager
def checked(site: Site) -> Iterator[Site]:
    """Let a test use *site*, and ask the oracles once nothing streams there any more."""
    site.upstream.reset()
    before = site.newest_message()
    yield site
    site.wait_until_quiet()
    check_everything(site, site.pages, after_message=before)
    for page in site.pages:
        page.socket.socket.close()
    site.pages.clear()
