"""A conversation is passed on by a link, read without a script, gone on with, and taken back; and taken along."""

from __future__ import annotations

from playwright.sync_api import expect

from .page_actions import messages, replies, say
from .share_actions import share

PHONE = {"width": 390, "height": 844}


def test_a_conversation_is_passed_on_and_taken_back(page, open_page, signed_in):
    say(page, "My name is Andrew")
    link = share(page, "Names")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link

    stranger = open_page(link, java_script_enabled=False)
    expect(stranger.get_by_role("heading", name="Names")).to_be_visible()
    expect(stranger.get_by_role("article")).to_have_count(2)
    expect(stranger.get_by_role("button", name="Continue as my copy")).to_have_count(0)
    stranger.get_by_role("link", name="What the model saw").click()
    expect(stranger.get_by_text("In the order it was sent")).to_be_visible()

    reader = signed_in(viewport=PHONE)
    reader.goto(link)
    reader.get_by_role("button", name="Continue as my copy").click()
    expect(messages(reader)).to_have_count(2)
    say(reader, "What is my name?")
    expect(replies(reader).last).to_contain_text("Andrew")

    page.reload()
    expect(page.get_by_text("opened 2 times")).to_be_visible()
    page.get_by_role("button", name="Revoke “Names”").click()
    expect(page.get_by_text("Revoked", exact=True)).to_be_visible()
    stranger.reload()
    expect(stranger.get_by_role("heading", name="This link leads nowhere")).to_be_visible()
    expect(messages(reader)).to_have_count(4)


def test_a_conversation_is_saved_as_a_page_of_its_own(page, open_page, tmp_path):
    say(page, "My name is Andrew")
    page.get_by_role("heading", level=1).get_by_role("button").click()
    page.get_by_role("menuitem", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Web page").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.suffix == ".html"
    saved = open_page("about:blank", offline=True)
    saved.goto(file.as_uri())
    expect(saved.get_by_role("article")).to_have_count(2)
    expect(saved.get_by_role("article").first).to_contain_text("My name is Andrew")
