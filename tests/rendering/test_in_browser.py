"""The corpus in Chromium, without any Content-Security-Policy to help: nothing runs and nothing is fetched."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, sync_playwright

from conversations.rendering import render_markdown
from tests.rendering.payloads import PAYLOADS
from tests.rendering.replies import REPLIES

pytestmark = pytest.mark.browser

HTML = "".join(f"<section>{render_markdown(text)}</section>" for text in PAYLOADS + REPLIES)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        yield browser.new_page()
        browser.close()


@pytest.mark.parametrize("way", ["document", "innerHTML"])
def test_no_payload_runs_or_fetches_anything(page, way):
    happened: list[str] = []
    page.on("request", lambda request: happened.append(request.url))
    page.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
    if way == "document":
        page.set_content(HTML)
    else:
        page.evaluate("html => { document.body.innerHTML = html }", HTML)
    page.wait_for_load_state("networkidle")
    assert happened == []
    assert page.locator("section").count() == len(PAYLOADS + REPLIES)
    assert page.locator("script, img, svg, iframe, object, embed, form, style, link").count() == 0


def test_this_page_does_notice_what_runs(page):
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.set_content("<img src=x onerror=alert(1)>")
    page.wait_for_load_state("networkidle")
    assert dialogs == ["1"]
