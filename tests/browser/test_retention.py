"""Retention: what is deleted soon is said in the list and in the conversation, and is kept by a message or a button."""

from __future__ import annotations

from playwright.sync_api import expect

from .page_actions import begin_another, say

TELL = """
import datetime as dt
from django.utils import timezone
from conversations.models import Conversation
told = Conversation.objects.filter(owner__conversations__public_id='{public_id}')
Conversation.objects.filter(pk__in=told.values('pk')).update(retention_ends_at=timezone.now() + dt.timedelta(days=9))
"""


def notice(page):
    return page.locator('[data-part="retention"]')


def test_a_message_in_one_and_a_button_for_another_keep_what_is_deleted_soon(page, site):
    say(page, "Ferries to Reine")
    begin_another(page)
    say(page, "Bread with caraway")
    site.run(TELL.format(public_id=page.url.rstrip("/").rpartition("/")[2]))
    page.reload()
    expect(notice(page)).to_contain_text("Not used for a while Deleted on")
    expect(page.get_by_role("link", name="2 conversations are deleted soon")).to_be_visible()
    say(page, "And rye?")
    expect(notice(page)).to_have_count(0)
    page.get_by_role("link", name="1 conversation is deleted soon").click()
    page.get_by_role("button", name="Keep “Ferries to Reine”").press("Enter")
    expect(page.get_by_text("None of your conversations is deleted soon.")).to_be_visible()
    expect(page.get_by_role("link", name="conversation is deleted soon")).to_have_count(0)
