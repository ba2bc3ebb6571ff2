"""Firefox in place of Chromium: the same site, people and ways to open pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, expect

from tests.browser.conftest import PATIENCE_MS
from tests.support.source import PROJECT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("firefox")


@pytest.fixture(scope="package")
def browser(firefox_path: str, playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Firefox, started by `firefox_process`: by a script, since Playwright takes a path and only options after it."""
    expect.set_options(timeout=PATIENCE_MS)
    script = tmp_path_factory.mktemp("firefox") / "firefox"
    script.write_text(
        f'#!/bin/sh\ncd "{PROJECT}" && FIREFOX_PATH="{firefox_path}"'
        f' exec "{sys.executable}" -m tests.browser.firefox.firefox_process "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o700)
    firefox = playwright.firefox.launch(channel="moz-firefox", executable_path=script)
    yield firefox
    firefox.close()
