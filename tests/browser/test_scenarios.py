"""A person makes a scenario of their own, with and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.page_actions import composer, open_account_menu


def open_advanced(page: Page) -> None:
    expect(page.get_by_label("Fill after sliding")).to_be_hidden()
    page.get_by_text("Advanced", exact=True).click()


@pytest.mark.parametrize("scripts", [True, False])
def test_only_what_the_policy_asks_for_is_shown(signed_in, scripts):
    page = signed_in(java_script_enabled=scripts)
    page.goto("/scenarios/new/")
    open_advanced(page)
    expect(page.get_by_label("Fill after sliding")).to_be_visible()
    expect(page.get_by_label("Messages to keep")).to_be_hidden()
    page.get_by_label("The last n messages").check()
    expect(page.get_by_label("Fill after sliding")).to_be_hidden()
    expect(page.get_by_label("Messages to keep")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_nothing_typed_is_lost_and_a_wrong_field_is_shown_whatever_the_policy(signed_in, scripts):
    page = signed_in(java_script_enabled=scripts)
    page.goto("/scenarios/new/")
    page.get_by_label("Name", exact=True).fill("Guide")
    open_advanced(page)
    page.get_by_label("The last n messages").check()
    page.get_by_label("Messages to keep").fill("1e400")
    page.get_by_label("Everything, or nothing").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Guide")
    expect(page.get_by_label("Messages to keep")).to_have_value("1e400")
    expect(page.get_by_label("Messages to keep")).to_be_visible()
    page.get_by_role("link", name="Messages to keep").click()
    expect(page.get_by_label("Messages to keep")).to_be_in_viewport()


def test_a_conversation_starts_with_a_scenario_made_from_one_of_the_sites(page):
    page.goto("/")
    open_account_menu(page)
    page.get_by_role("link", name="Scenarios").click()
    page.get_by_role("link", name="Duplicate Plain conversation").click()
    page.get_by_label("Name", exact=True).fill("My own")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("“My own” is saved.")).to_be_visible()
    page.get_by_role("link", name="Start a conversation with My own").click()
    expect(composer(page)).to_be_visible()
    expect(page.locator(".model-scenario")).to_have_text("My own")


def test_the_pages_fit_a_telephone(signed_in):
    page = signed_in(viewport={"width": 390, "height": 800})
    for path in ("/scenarios/", "/scenarios/new/", "/scenarios/from-file/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_drawings_follow_the_values(page):
    page.goto("/scenarios/new/")
    open_advanced(page)
    expect(page.get_by_text("500 tokens for the reply, 3,596 for what is sent")).to_be_visible()
    page.get_by_label("Reply reserve, tokens").fill("1096")
    expect(page.get_by_text("1,096 tokens for the reply, 3,000 for what is sent")).to_be_visible()
    expect(page.get_by_text("Up to 1,500 tokens of passages")).to_be_visible()
    page.get_by_label("Share for passages").fill("0.2")
    expect(page.get_by_text("Up to 600 tokens of passages")).to_be_visible()
    bar = page.locator('[data-effect="grounding_share"] [data-bar]')
    expect(bar).to_have_attribute("width", "20%")
    page.get_by_label("Share for passages").fill("a fifth")
    expect(bar).to_be_hidden()
    page.get_by_label("Language model", exact=True).select_option("windowseat-demo-32k")
    expect(page.get_by_text("1,096 tokens for the reply, 31,672 for what is sent")).to_be_visible()


def test_the_window_slides_in_the_drawing_as_it_would(page):
    page.goto("/scenarios/new/")
    open_advanced(page)
    slide = page.locator("[data-slide]")
    out_of_view = slide.locator("> svg > .part-free")
    expect(slide).to_contain_text("older messages then fill 70 % of it")
    before = out_of_view.count()
    assert before > 0
    page.get_by_label("Fill after sliding").fill("0.4")
    expect(slide).to_contain_text("40 %")
    assert out_of_view.count() > before
    page.get_by_label("The last n messages").check()
    page.get_by_label("Messages to keep").fill("3")
    expect(slide).to_contain_text("The newest 3 messages are sent")
    expect(slide.locator("> svg > .part-older")).to_have_count(2 * 10)
    page.get_by_label("Everything, or nothing").check()
    expect(slide).to_contain_text("the next message is refused")
    expect(out_of_view).to_have_count(0)
