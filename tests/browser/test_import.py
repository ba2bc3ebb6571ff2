"""A person brings conversations along: files, progress, report, one opened, and going on in it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.parsing.pictures import drawing, encoded
from tests.support.exports import as_json, as_zip, chatgpt, chatgpt_files, node, odd_chatgpt

from .page_actions import open_account_menu, wait_for_page_parts

CONVERSATIONS = 4_000


def choose_file(page, name, content):
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.get_by_label("ZIP or JSON files").set_input_files(file)
    wait_for_page_parts(page)  # else the form is sent as it is where there are no scripts
    page.get_by_role("button", name="Import", exact=True).click()


def test_conversations_are_brought_along_and_go_on(page):
    page.evaluate("window.stays = true")
    open_account_menu(page)
    page.get_by_role("link", name="Import", exact=True).click()
    choose_file(page, "export.zip", as_zip(chatgpt_files(odd_chatgpt(), picture=encoded(drawing()))))
    expect(page.locator(".import-taken")).to_have_text("8 of 14 messages taken")
    expect(page.get_by_text("Content of an unknown type: super_widget")).to_be_visible()
    page.get_by_role("link", name=re.compile("^Go on")).click()
    expect(page.get_by_text("It is a lighthouse.")).to_be_visible()
    composer = page.get_by_role("textbox", name="Message")
    composer.fill("And now?")
    composer.press("Enter")
    expect(page.get_by_text("And now?")).to_be_visible()
    assert page.evaluate("window.stays")


def test_an_import_rests_and_goes_on_after_a_reload(page):
    page.goto("/import/")
    nodes = [node("q", "root", "user", "question"), node("a", "q", "assistant", "answer")]
    choose_file(page, "long.json", as_json([chatgpt(f"c{number}", nodes, "a") for number in range(CONVERSATIONS)]))
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    page.reload()
    assert page.get_by_role("progressbar").get_attribute("value") != "100"
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".import-taken")).to_have_text("8,000 of 8,000 messages taken")
    page.get_by_role("button", name="Remove this report").click()
    expect(page.locator("[data-import]")).to_have_count(0)


def test_sending_goes_on_where_it_broke_off_but_not_with_another_file(page):
    page.goto("/import/")
    page.locator('[data-part="import-form"]').evaluate("form => { form.dataset.pieceBytes = '100'; }")
    nodes = [node("q", "root", "user", "question"), node("a", "q", "assistant", "answer")]
    content, other = (as_json([chatgpt("c", nodes, "a", title=title)]) for title in ("First", "Other"))
    starts = []
    page.on("request", lambda request: starts.append(request.url.rpartition("=")[2]) if "?start=" in request.url else 0)

    def send(sent, *, breaks_at):
        starts.clear()
        page.route(f"**/files/0/?start={breaks_at}", lambda route: route.fulfill(status=409, body="{}"))
        choose_file(page, "a.json", sent)
        expect(page.get_by_text("The connection broke off.")).to_be_visible()
        expect(page.get_by_role("button", name="Import", exact=True)).to_be_enabled()
        page.unroute(f"**/files/0/?start={breaks_at}")
        return starts[0]

    assert send(content, breaks_at=200) == "0"
    page.locator('[data-part="import-sending"]').evaluate("words => { words.textContent = ''; }")
    assert send(content, breaks_at=300) == "200"
    starts.clear()
    choose_file(page, "a.json", other)
    expect(page.locator(".import-taken")).to_have_text("2 of 2 messages taken")
    assert starts[0] == "0"
    expect(page.get_by_role("link", name="Other", exact=True).first).to_be_visible()
