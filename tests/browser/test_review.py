"""Review in a browser: a reviewer says why, reads, is on record, and the owner sees it. Nothing that was said runs."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.rendering.payloads import PAYLOADS

from .page_actions import public_id_of, say, session_of

REASON = "She asked us why the answer was wrong"
MAKE_REVIEWER = """
from chatsite.accounts.sessions.session_store import SessionStore
from chatsite.accounts.models import User
User.objects.filter(pk=SessionStore("{session}").get("_auth_user_id")).update(role="reviewer", name="Grace")
"""
FIND = """
from conversations.models import Conversation
print(Conversation.objects.get(public_id="{public_id}").pk)
"""
WHAT_COULD_RUN = ".rendered :is(script, img, svg, iframe, object, embed, form, style, link)"
ATTACK = """
import json
from conversations.models import Conversation, Message
payloads = json.loads(r'''{payloads}''')
conversation = Conversation.objects.get(public_id="{public_id}")
Conversation.objects.filter(pk=conversation.pk).update(title=payloads[0])
for number, payload in enumerate(payloads):
    payload = payload.replace("\\0", "")
    source = [dict(text=payload, source=payload, score=1)]
    call = [dict(id="1", type="function", function=dict(name=payload, arguments=payload))]
    head = Message.objects.create(conversation=conversation, parent=conversation.head, encoding="o200k_base",
        position=conversation.head.position + 1, role="assistant", content=payload, grounding=source, tool_calls=call)
    conversation.head = head
conversation.save(update_fields=["head"])
"""


@pytest.fixture
def reviewer(site, signed_in) -> Page:
    page = signed_in()
    site.run(MAKE_REVIEWER.format(session=session_of(page)))
    return page


def open_in_the_admin(site, reviewer: Page, owner: Page) -> None:
    pk = site.run(FIND.format(public_id=public_id_of(owner)))
    reviewer.goto(f"/admin/conversations/conversation/{pk}/change/")


def give_reason(reviewer: Page) -> None:
    reviewer.get_by_label("Why do you need to read it?").fill(REASON)
    reviewer.get_by_role("button", name="Read this conversation").click()


def test_a_reviewer_says_why_reads_and_is_seen_by_the_owner(site, page, reviewer):
    say(page, "My name is Andrew")
    open_in_the_admin(site, reviewer, page)
    expect(reviewer.get_by_text("No one but its owner.")).to_be_visible()
    expect(reviewer.get_by_text("My name is Andrew")).to_have_count(0)
    give_reason(reviewer)
    expect(reviewer.locator("article.message-user").get_by_text("My name is Andrew")).to_be_visible()
    expect(reviewer.locator(".readers").get_by_text(REASON)).to_be_visible()

    page.reload()
    page.get_by_role("link", name="See who read it").click()
    expect(page.get_by_text(REASON)).to_be_visible()
    expect(page.get_by_text("Opened 1 page of it.")).to_be_visible()


def test_what_the_model_was_sent_is_one_click_further(site, page, reviewer):
    say(page, "My name is Andrew")
    open_in_the_admin(site, reviewer, page)
    give_reason(reviewer)
    reviewer.locator("summary", has_text="What the model saw").click()
    reviewer.get_by_role("link", name="What was sent, word for word").click()
    expect(reviewer.get_by_text("The request exactly as it was sent")).to_be_visible()
    expect(reviewer.locator("article.message-user pre")).to_have_text("My name is Andrew")


def test_a_search_leads_to_the_form_with_its_reason(site, page, reviewer):
    say(page, "Where is the heliotrope?")
    reviewer.goto("/admin/conversations/reading/search/")
    reviewer.get_by_label("Words in a title or a message").fill("HELIOTROPE")
    reviewer.get_by_label("Why do you need to search for them?").fill(REASON)
    reviewer.get_by_role("button", name="Search messages").click()
    reviewer.locator("tbody a").first.click()
    expect(reviewer.get_by_label("Why do you need to read it?")).to_have_value(REASON)
    expect(reviewer.get_by_text("heliotrope")).to_have_count(0)


def test_nothing_that_was_said_runs_in_the_admin(site, page, reviewer):
    happened: list[str] = []
    reviewer.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
    elsewhere = lambda request: not request.url.startswith((site.address, "data:"))  # noqa: E731
    reviewer.on("request", lambda request: happened.append(request.url) if elsewhere(request) else None)
    say(page, "Hello")
    site.run(ATTACK.format(public_id=public_id_of(page), payloads=json.dumps(PAYLOADS)))
    open_in_the_admin(site, reviewer, page)
    give_reason(reviewer)
    address, shown = reviewer.url, 0
    for start in range(0, len(PAYLOADS) + 2, 20):
        reviewer.goto(f"{address}?from={start}")
        reviewer.wait_for_load_state("networkidle")
        shown += reviewer.locator("article.message").count()
        assert reviewer.locator(WHAT_COULD_RUN).count() == 0
    assert shown >= len(PAYLOADS) + 2
    assert happened == []
