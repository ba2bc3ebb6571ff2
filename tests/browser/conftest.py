"""A real site in a process of its own, a real browser, and a new person for every test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.faults.databases import Database, new_database
from tests.support.patience import PATIENCE_SECONDS

from .sites import Site, running_site

TOKENS_PER_SECOND = 400
PATIENCE_MS = PATIENCE_SECONDS * 1_000
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--in-process-gpu", "--disable-background-networking"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


# Of the package, not of the session: other tests need what an idle site takes of the machine, and the event loop of
# Playwright must be gone before tests that run their own.


@pytest.fixture(scope="package")
def site(postgres: Database, template: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all tests, each with people of its own. A test that changes the site itself changes it back."""
    folder = tmp_path_factory.mktemp("browser")
    settings = {
        "DEMO_TOKENS_PER_SECOND": TOKENS_PER_SECOND,
        "MESSAGES_PER_MINUTE": 0,
        "SHARES": "anyone",
        "TOOL_MODULES": "tests.support.side_effects",
        "NOTES_FILE": folder / "notes",
    }
    with (
        new_database(postgres, template=template.name) as database,
        running_site(database, folder, **settings) as running,
    ):
        yield running


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """One for all browsers: two at once are refused."""
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="package")
def browser(chromium_path: str, playwright: Playwright) -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    chromium = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
    yield chromium
    chromium.close()


@pytest.fixture
def open_page(site: Site, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """Open pages in browsers of their own. What their scripts complain about fails the test.

    As for people who ask for it, nothing moves on them, which spares a third of the browser's work: where a test is
    about what moves, or a file about all that happens on a page, it is marked `moving`.
    """
    motion = "no-preference" if request.node.get_closest_marker("moving") else "reduce"
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(path: str = "/", **options: object) -> Page:
        context = browser.new_context(base_url=site.address, **{"reduced_motion": motion, **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("console", lambda message: _note_violation(message.text, complaints))
        page = context.new_page()
        page.goto(path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not complaints


def _note_violation(text: str, complaints: list[str]) -> None:
    if "Content Security Policy" in text:
        complaints.append(text)


@pytest.fixture
def signed_in(site: Site, open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Open the page of a new person, at a conversation that has not begun."""

    def sign_in(**options: object) -> Page:
        cookie = {"name": "sessionid", "value": next(site.sessions), "domain": "127.0.0.1", "path": "/", "expires": -1}
        return open_page("/", storage_state={"cookies": [cookie], "origins": []}, **options)

    return sign_in


@pytest.fixture
def page(signed_in: Callable[..., Page]) -> Page:
    return signed_in()
