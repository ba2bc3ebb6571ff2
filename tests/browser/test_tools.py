"""Tools as people meet them: chosen for a scenario, called in a reply, looked into, allowed and refused."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import (
    CONVERSATION_PATH,
    HeldAnswers,
    composer,
    content_of,
    lose_frames,
    messages,
    replies,
    say,
    streaming,
    wait_until,
    write,
)
from .tool_actions import ask_to_write_down, calls_in, choose_all_tools, end_of

CALL_ALL = """
from conversations.models import Conversation
from tests.rendering.payloads import PAYLOADS
from tests.support.tool_steps import add_call
reply = Conversation.objects.get(public_id="{public_id}").head
for payload in PAYLOADS:
    written = payload.replace(chr(0), "")
    add_call(reply, written[:100], written, source=written[:100], result=written)
    add_call(reply, written[:100], {{"note": written}}, source=written[:100], state="awaiting_approval")
print(len(PAYLOADS))
"""
CALL_WITHOUT_ARGUMENTS = """
from conversations.models import Conversation
from tests.support.tool_steps import add_call
add_call(Conversation.objects.get(public_id="{public_id}").head, "{tool}", source="shop (shop.example)")
"""
OFFER_TWO = """
from conversations.models import McpServer
tools = [{"name": name, "description": "", "parameters": {"type": "object"}} for name in ("pay", "order")]
McpServer.objects.create(name="shop", url="https://shop.example/mcp", offered=True, tools=tools)
"""
OFFER_NONE = """
from conversations.models import McpServer
McpServer.objects.all().delete()
"""
XSS = '<img src=x onerror="document.title=\'broken in\'"><script>document.title="broken in"</script>'


@pytest.fixture
def with_tools(page):
    """A person's page at a new conversation that may call everything there is."""
    return choose_all_tools(page)


@pytest.fixture
def shop(site):
    """A server whose two tools are offered to people."""
    site.run(OFFER_TWO)
    yield
    site.run(OFFER_NONE)


def test_the_form_says_what_the_chosen_tools_cost_together(page):
    page.goto("/scenarios/new/")
    total = page.locator("[data-tool-sum]")
    expect(total).to_be_empty()
    page.get_by_label("Calculator").check()
    expect(total).to_contain_text(re.compile(r"about \d+ tokens"))


def test_what_is_chosen_twice_is_counted_once(shop, page):
    page.goto("/scenarios/new/")
    page.locator("[value=shop__\\*]").check()
    total = page.locator("[data-tool-sum]")
    expect(total).to_contain_text(re.compile(r"about \d+ tokens"))
    of_all = total.inner_text()
    page.locator("[value=shop__pay]").check()
    page.get_by_label("Calculator").check()
    page.get_by_label("Calculator").uncheck()
    expect(total).to_have_text(of_all)


def test_the_page_says_which_tools_there_are(with_tools):
    with_tools.get_by_role("button", name="Language model:").click()
    with_tools.get_by_role("menuitem", name=re.compile(r"^\d+ tools that it may call$")).click()
    expect(with_tools.get_by_role("dialog", name="Tools")).to_contain_text("Calculator")


def test_a_call_is_a_quiet_line_that_opens(with_tools):
    reply = say(with_tools, "What is 17 × 23?")
    line = calls_in(reply).first
    expect(line.locator("summary")).to_contain_text("Calculated 17 × 23")
    expect(line.locator(".call-record")).to_be_hidden()
    line.locator("summary").click()
    expect(line.locator(".call-text").last).to_have_text("391")
    expect(line).to_contain_text("built in")
    assert "391" in content_of(reply)


def test_the_story_of_the_built_in_tools(with_tools):
    page = with_tools
    say(page, "The invoice of the plumber is 240 euros")
    expect(calls_in(say(page, "What time is it?"))).to_contain_text("Checked the time")
    expect(calls_in(say(page, "What did I say about the invoice?"))).to_contain_text("Searched this conversation")
    expect(messages(page)).to_have_count(6)
    page.reload()
    expect(page.locator("details[data-call]")).to_have_count(2)
    expect(messages(page)).to_have_count(6)


def test_an_allowed_call_is_run_and_the_reply_goes_on(with_tools):
    card = ask_to_write_down(with_tools)
    expect(card).to_contain_text('"note": "Pay the invoice"')
    expect(with_tools.get_by_text("The reply is waiting for your approval above")).to_be_visible()
    card.get_by_role("button", name="Allow", exact=True).click()
    reply = end_of(with_tools)
    expect(calls_in(reply).locator("summary")).to_contain_text("write_down")
    assert "Written down: Pay the invoice" in reply.text_content()
    expect(with_tools.get_by_text("The reply is waiting for your approval above")).to_be_hidden()


def test_a_refused_call_is_not_run_and_the_reply_goes_on(with_tools):
    ask_to_write_down(with_tools).get_by_role("button", name="Don’t allow").click()
    reply = end_of(with_tools)
    expect(calls_in(reply).locator("summary")).to_contain_text("Not allowed")
    assert "Written down:" not in reply.text_content()


def test_a_reply_that_awaits_approval_can_be_stopped(with_tools):
    ask_to_write_down(with_tools)
    with_tools.get_by_role("button", name="Stop the reply").click()
    reply = end_of(with_tools)
    expect(reply).to_contain_text("You stopped this reply.")
    expect(calls_in(reply).locator("summary")).to_contain_text("Stopped")
    expect(with_tools.locator("[data-awaiting-approval]")).to_have_count(0)


def test_the_same_once_more_says_that_it_was_run_before(with_tools):
    ask_to_write_down(with_tools).get_by_role("button", name="Allow", exact=True).click()
    end_of(with_tools)
    expect(ask_to_write_down(with_tools)).to_contain_text("This exact call was run before")


def test_enter_in_the_composer_allows_nothing(with_tools):
    ask_to_write_down(with_tools)
    composer(with_tools).press("Enter")
    composer(with_tools).fill("yes")
    composer(with_tools).press("Enter")
    expect(with_tools.get_by_role("group", name="Queued message")).to_contain_text("yes")
    expect(with_tools.locator("[data-awaiting-approval]")).to_be_visible()


def test_a_call_is_allowed_by_keyboard_alone_and_the_focus_stays_with_it(with_tools):
    card = ask_to_write_down(with_tools)
    expect(composer(with_tools)).to_be_focused()
    with_tools.get_by_role("button", name="Go to the question").press("Enter")
    expect(card).to_be_focused()
    with_tools.keyboard.press("Tab")  # the arguments, which may have to be scrolled
    with_tools.keyboard.press("Tab")
    expect(card.get_by_role("button", name="Allow", exact=True)).to_be_focused()
    with_tools.keyboard.press("Enter")
    expect(calls_in(end_of(with_tools)).locator("summary")).to_be_focused()


def test_that_a_call_awaits_approval_is_announced(with_tools):
    ask_to_write_down(with_tools)
    expect(with_tools.locator('[data-part="announcer"]')).to_contain_text("asks to run the tool write_down")


def test_a_decision_in_one_tab_is_seen_in_the_other(with_tools):
    card = ask_to_write_down(with_tools)
    other = with_tools.context.new_page()
    other.goto(with_tools.url)
    other.locator("[data-awaiting-approval]").get_by_role("button", name="Don’t allow").click()
    expect(card).to_have_count(0)
    expect(calls_in(end_of(with_tools)).locator("summary")).to_contain_text("Not allowed")


def test_an_open_call_stays_open_while_the_reply_goes_on(with_tools):
    write(with_tools, "What is 17 × 23?")
    line = with_tools.locator("details[data-call]")
    line.locator("summary").click()
    expect(line.locator(".call-text").last).to_have_text("391")
    reply = end_of(with_tools)
    expect(calls_in(reply).locator(".call-record")).to_be_visible()


@pytest.mark.parametrize("kind", ["reply.step", "reply.delta", "reply.html"])
def test_what_is_lost_of_a_reply_with_calls_heals(with_tools, kind):
    say(with_tools, "Hello")
    lose_frames(with_tools, kind)
    with_tools.reload()
    reply = say(with_tools, "What is 17 × 23?")
    expect(reply).to_have_attribute("data-mark", "in")  # comes with the next estimate
    shown = reply.inner_text()
    with_tools.reload()
    wait_until(with_tools, lambda: replies(with_tools).last.inner_text() == shown)


def test_an_estimate_from_before_the_end_of_a_reply_says_nothing_of_what_has_ended(with_tools):
    """Its answer comes after the reply has ended and before the next estimate is even asked for."""
    with_tools.clock.install()
    estimates = HeldAnswers(with_tools, "/estimate/")
    card = ask_to_write_down(with_tools)
    estimates.wait_for("empty")
    with_tools.clock.pause_at(with_tools.evaluate("Date.now()") + 1_000)
    card.get_by_role("button", name="Allow", exact=True).click()
    wait_until(with_tools, lambda: with_tools.clock.run_for(20) or not streaming(with_tools).count())
    estimates.let_newest_come()
    expect(replies(with_tools)).to_have_attribute("data-mark", "in")


def test_nothing_of_a_call_is_ever_run_by_the_page(with_tools):
    card = ask_to_write_down(with_tools, XSS)
    expect(card.locator("img, script")).to_have_count(0)
    card.get_by_role("button", name="Allow", exact=True).click()
    line = calls_in(end_of(with_tools))
    line.locator("summary").click()
    expect(line.locator(".call-text").first).to_contain_text("<img src=x onerror=")
    expect(line.locator("img, script")).to_have_count(0)
    expect(with_tools).not_to_have_title("broken in")


def test_no_payload_in_name_source_arguments_or_result_of_a_call_runs_or_fetches_anything(page, site):
    happened: list[str] = []
    say(page, "Hello")
    count = int(site.run(CALL_ALL.format(public_id=page.url.split("/")[-2])))
    page.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith(site.address) or happened.append(request.url))
    page.reload()
    expect(page.locator("details[data-call]")).to_have_count(count)
    expect(page.locator("[data-awaiting-approval]")).to_have_count(count)
    page.locator("details[data-call]").first.evaluate_all("all => all.forEach((call) => { call.open = true; })")
    assert page.locator("[data-call]").locator("script, img, iframe, object, embed, style, link, a").count() == 0
    assert happened == []


def test_a_long_name_is_whole_where_there_is_room(page, site):
    say(page, "Hello")
    site.run(CALL_WITHOUT_ARGUMENTS.format(public_id=page.url.split("/")[-2], tool="shop__list_every_open_order"))
    page.reload()
    name = page.locator(".call-name")
    expect(name).to_be_visible()
    assert name.evaluate("name => name.scrollWidth - name.clientWidth") == 0
    page.set_viewport_size({"width": 240, "height": 700})
    # What is out of sight is not laid out, and has no width: the line may be that after the page has become narrow.
    overflow = "name => { name.scrollIntoView(); return name.scrollWidth - name.clientWidth; }"
    wait_until(page, lambda: name.evaluate(overflow) > 0)
    assert page.locator("html").evaluate("root => root.scrollWidth") == 240


def test_what_no_one_sees_is_spelled_out_where_they_decide(with_tools):
    card = ask_to_write_down(with_tools, "pay \u202e10 euros\u200b")
    expect(card.locator(".unseen")).to_have_text(["U+202E", "U+200B"])


def test_on_a_telephone_nothing_is_wider_than_the_page(signed_in):
    page = choose_all_tools(signed_in(viewport={"width": 390, "height": 844}))
    ask_to_write_down(page, "x" * 400).get_by_role("button", name="Allow", exact=True).click()
    line = calls_in(end_of(page))
    line.locator("summary").click()
    expect(line.locator(".call-record")).to_be_visible()
    assert page.locator("html").evaluate("root => root.scrollWidth") == 390


def test_without_javascript_a_call_is_allowed_all_the_same(with_tools, open_page):
    say(with_tools, "Hello")
    page = open_page("/", java_script_enabled=False, storage_state=with_tools.context.storage_state())
    page.goto(with_tools.url)
    composer(page).fill('call write_down with {"note": "Pay the invoice"}')
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Allow", exact=True).click()
    reply = page.locator('[data-role="assistant"][data-state="complete"]').last
    expect(reply.locator("summary").first).to_contain_text("write_down")
    expect(page).to_have_url(CONVERSATION_PATH)
