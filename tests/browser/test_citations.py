"""A citation shows its passage: pointed at, pressed, by keyboard, on a small screen; and the list under the reply."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.rendering.payloads import PAYLOADS

from .long_conversations import SCROLLED_SIDEWAYS
from .page_actions import composer, hold_frames, replies, say

GIVE_SOURCES = """
import json
from dataclasses import asdict
from conversations.core.window.window_record import GroundingPassage, GroundingRecord, LookUp
from conversations.models import Completion, Message
from django.db import connection
given = json.loads({given!r})
included = tuple(GroundingPassage(number, 1.0) for number in (2, 1, 3))
left_out = tuple(GroundingPassage(number, 0.5) for number in range(4, len(given["grounding"]) + 1))
record = GroundingRecord(300, 900, included, left_out, LookUp(2))
reply = Message.objects.get(conversation__public_id=given["conversation"], role="assistant")
Message.objects.filter(pk=reply.parent_id).update(grounding=given["grounding"])
Message.objects.filter(pk=reply.pk).update(content=given["content"])
completion = Completion.objects.get(reply=reply)
connection.cursor().execute("SET conversations.ledger_may_change = 'on'")
completion.window["grounding"] = asdict(record)
completion.save()
"""
STILL = {"reduced_motion": "reduce"}
QUESTION = "Which talks are about mobile?"
CONTENT = """Two talks are about that:

- **Offline first** — Tuesday, 9:00, Hall [1]
- **A farm of phones** — Tuesday, 11:00, Studio B [2], and more of it [3, 9]

They leave out `[1]` and [4]."""
HOSTILE = "\n".join(PAYLOADS).replace("\0", "")
GROUNDING = [
    {"text": "A farm of phones stands in a cellar. " * 40 + "It ends here.", "source": "talks.json › A farm of phones"},
    {"text": "Mobile apps live in tunnels.\nThey have to wait.", "source": "talks.json › Offline first"},
    {"text": HOSTILE, "source": HOSTILE[:2_000]},
    *({"text": f"Left out {number}", "source": "more.md"} for number in range(14)),
]


def with_sources(site, page: Page) -> Page:
    """Let the first reply on the page have been made from passages."""
    say(page, QUESTION)
    given = {"conversation": page.url.rstrip("/").rpartition("/")[2], "grounding": GROUNDING, "content": CONTENT}
    site.run(GIVE_SOURCES.format(given=json.dumps(given)))
    page.reload()
    return page


@pytest.fixture
def cited(page, site) -> Page:
    return with_sources(site, page)


def citation(page: Page, number: int) -> Locator:
    return replies(page).get_by_role("button", name=f"[{number}]", exact=True)


def card(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Passage")


def test_a_passage_is_shown_while_its_number_is_pointed_at(cited):
    expect(card(cited)).to_be_hidden()
    citation(cited, 1).hover()
    expect(card(cited)).to_contain_text("talks.json › Offline first")
    expect(card(cited)).to_contain_text("They have to wait.")
    card(cited).hover()
    expect(card(cited)).to_be_visible()
    composer(cited).hover()
    expect(card(cited)).to_be_hidden()


def test_a_passage_that_was_asked_for_stays_until_escape_and_can_be_scrolled(cited):
    citation(cited, 2).click()
    composer(cited).hover()
    text = card(cited).locator(".passage-text")
    expect(text).to_be_focused()
    cited.keyboard.press("End")
    expect(text).to_have_js_property("scrollTop", text.evaluate("e => e.scrollHeight - e.clientHeight"))
    cited.keyboard.press("Escape")
    expect(card(cited)).to_be_hidden()


def test_the_keyboard_reaches_a_passage_and_comes_back(cited):
    citation(cited, 1).focus()
    cited.keyboard.press("Tab")
    expect(citation(cited, 2)).to_be_focused()
    expect(card(cited)).to_contain_text("A farm of phones")
    cited.keyboard.press("Enter")
    expect(card(cited).locator(".passage-text")).to_be_focused()
    cited.keyboard.press("Escape")
    expect(citation(cited, 2)).to_be_focused()
    expect(card(cited)).to_be_hidden()


@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_going_on_by_keyboard_leads_from_a_passage_back_to_its_number(cited, key):
    citation(cited, 2).focus()
    expect(card(cited).locator(".passage-text")).to_be_visible()  # as a user sees it before they press
    cited.keyboard.press("Enter")
    expect(card(cited).locator(".passage-text")).to_be_focused()
    cited.keyboard.press(key)
    expect(citation(cited, 2)).to_be_focused()
    expect(card(cited)).to_be_hidden()


def test_a_passage_on_its_way_gets_the_focus_also_if_its_reply_is_drawn_again_meanwhile(cited):
    let_snapshot_come = hold_frames(cited, "conversation.snapshot")
    cited.reload()
    waiting: list[Route] = []
    cited.route("**/sources/", lambda route: waiting.append(route))
    citation(cited, 2).focus()
    cited.keyboard.press("Enter")
    citation(cited, 2).evaluate("number => number.dataset.old = true")
    with cited.expect_request("**/sources/"):
        let_snapshot_come()
        expect(cited.locator("[data-old]")).to_have_count(0)
    for route in waiting:
        with cited.expect_event("requestfinished"):
            route.continue_()
    expect(card(cited).locator(".passage-text")).to_be_focused()


@pytest.mark.parametrize("is_pressed", [True, False])
def test_a_closed_passage_stays_closed_if_its_reply_is_drawn_again(cited, is_pressed):
    let_snapshot_come = hold_frames(cited, "conversation.snapshot")
    cited.reload()
    citation(cited, 1).focus()  # the browser itself gives the focus back to the first number at which it opened
    cited.keyboard.press("Tab")
    expect(citation(cited, 2)).to_be_focused()
    expect(card(cited)).to_contain_text("A farm of phones")
    if is_pressed:
        cited.keyboard.press("Enter")
        expect(card(cited).locator(".passage-text")).to_be_focused()
    cited.keyboard.press("Escape")
    expect(card(cited)).to_be_hidden()
    citation(cited, 2).evaluate("number => number.dataset.old = true")
    let_snapshot_come()
    expect(cited.locator("[data-old]")).to_have_count(0)
    expect(citation(cited, 2)).to_be_focused()
    expect(card(cited)).to_be_hidden()
    cited.keyboard.press("Shift+Tab")
    cited.keyboard.press("Tab")
    expect(card(cited)).to_contain_text("A farm of phones")


def test_only_what_was_sent_is_a_citation(cited):
    expect(replies(cited).locator("[data-citation]")).to_have_count(3)
    numbers = replies(cited).locator("[data-citation]").evaluate_all("all => all.map((e) => e.dataset.citation)")
    assert numbers == ["1", "2", "3"]


def test_hostile_words_of_a_document_do_nothing(cited):
    dialogs: list[str] = []
    cited.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    citation(cited, 3).click()
    expect(card(cited).locator(".passage-text")).to_contain_text("<script>")
    assert card(cited).locator("script, img, svg, iframe, a").count() == 0
    assert dialogs == []


def test_the_line_under_a_reply_opens_to_all_passages(cited):
    cited.locator("summary").filter(has_text="Sources: 3 of 17 matching passages fit in the window").press("Enter")
    passages = replies(cited).locator(".passages > li")
    expect(passages).to_have_count(17)
    expect(passages.nth(3)).to_contain_text("left out")


def test_the_question_is_asked_again_before_what_is_typed(cited):
    composer(cited).fill("only on Tuesday")
    cited.get_by_role("link", name="Ask again more narrowly").click()
    expect(composer(cited)).to_have_value(f"{QUESTION}\n\nonly on Tuesday")
    expect(cited.get_by_text("Ask for less at once")).to_be_visible()
    composer(cited).press("Enter")
    expect(replies(cited)).to_have_count(2)
    expect(cited.get_by_text("Ask for less at once")).to_be_hidden()


def test_a_passage_that_cannot_be_fetched_says_so_and_is_fetched_the_next_time(cited):
    cited.route("**/sources/", lambda route: route.abort(), times=1)
    citation(cited, 1).click()
    expect(card(cited)).to_contain_text("could not be fetched")
    cited.keyboard.press("Escape")
    citation(cited, 1).click()
    expect(card(cited)).to_contain_text("Mobile apps live in tunnels.")


def test_without_scripts_the_passages_are_a_page_and_the_question_a_draft(site, cited, open_page):
    state = cited.context.storage_state()
    plain = open_page(cited.url.replace(site.address, ""), java_script_enabled=False, storage_state=state)
    plain.get_by_text("Sources: 3 of 17 matching passages fit in the window").click()
    plain.get_by_role("link", name="Show the passages").click()
    expect(plain.locator(".passages > li")).to_have_count(17)
    plain.get_by_role("link", name="Back to the conversation").click()
    plain.get_by_role("link", name="Ask again more narrowly").click()
    expect(composer(plain)).to_have_value(QUESTION)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_small_screen_the_passage_lies_at_the_lower_edge(site, signed_in, scheme):
    small = signed_in(viewport={"width": 390, "height": 800}, color_scheme=scheme, has_touch=True, **STILL)
    with_sources(site, small)
    citation(small, 2).tap()
    expect(card(small)).to_contain_text("A farm of phones")
    box = card(small).bounding_box()
    assert box is not None
    assert (box["x"], round(box["x"] + box["width"]), round(box["y"] + box["height"])) == (0, 390, 800)
    assert small.evaluate(SCROLLED_SIDEWAYS) == []
