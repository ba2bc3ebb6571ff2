"""From English into Chinese and back, as a person does it: the page, the composer, what is refused, and the reply."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .page_actions import CONVERSATION_PATH, replies, say, streaming

CODES = {"English": "en", "简体中文": "zh-hans"}
CODE = "Quote this:\n\n```python\nprint('hello')\n```"


def write_in_chinese(page, content):
    page.get_by_role("textbox", name="消息").fill(content)
    page.get_by_role("button", name="发送", exact=True).click()


def switch_to(page, language):
    if (account := page.locator(".sidebar-account")).count():
        account.click()
    page.locator(".languages:visible").get_by_role("button", name=language).click()
    expect(page.locator("html")).to_have_attribute("lang", CODES[language])
    page.wait_for_load_state()  # until its scripts have started


def test_the_switch_stays_in_the_conversation_and_changes_all_of_it(page):
    say(page, "My name is Andrew")
    switch_to(page, "简体中文")
    expect(page).to_have_url(CONVERSATION_PATH)
    expect(page.get_by_role("textbox", name="消息")).to_be_visible()
    expect(page.get_by_role("heading", name="今天")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text(re.compile(r"\b(Send|Edit|Copy|Window|Older|Today)\b"))


def test_what_comes_by_the_socket_is_in_the_language_of_the_page(page):
    switch_to(page, "简体中文")
    write_in_chinese(page, CODE)
    expect(replies(page)).to_have_count(1)
    expect(streaming(page)).to_have_count(0)
    expect(page.get_by_role("main").get_by_role("button", name="复制").first).to_be_visible()
    expect(page.locator("article").first.get_by_role("link", name="编辑")).to_be_visible()


def test_a_refusal_is_in_the_language_of_the_page(page):
    switch_to(page, "简体中文")
    write_in_chinese(page, "long " * 60_000)
    expect(page.get_by_role("alert").filter(has_text="过长")).to_be_visible()


def test_the_way_back_to_english_is_on_every_page(page):
    switch_to(page, "简体中文")
    page.goto("/scenarios/")
    switch_to(page, "English")
    expect(page).to_have_url(re.compile("/scenarios/$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Scenarios")


def test_a_user_who_is_signed_out_can_switch_without_a_script(open_page):
    page = open_page("/accounts/login/", java_script_enabled=False)
    switch_to(page, "简体中文")
    # The first of them while the site has no admin, which depends on the tests before.
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^(登录|欢迎回来)$"))
