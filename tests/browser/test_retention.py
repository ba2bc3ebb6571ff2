"""Retention: what is deleted soon is said in the list and in the conversation, and is kept by a message or a button."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import begin_another, say

RULE = """
from conversations.models import RetentionRule
RetentionRule.objects.{change}
"""
TELL = """
import datetime as dt
from django.utils import timezone
from conversations.models import Conversation
from conversations.services.retention.sweep_retention import sweep_retention
told = Conversation.objects.filter(owner__conversations__public_id='{public_id}')
touched_at = timezone.now() - dt.timedelta(days=21)
Conversation.objects.filter(pk__in=told.values('pk')).update(
    last_active_at=touched_at, retention_ends_at=touched_at + dt.timedelta(days=30))
sweep_retention()  # as the site's worker may do now, too
"""


@pytest.fixture
def rule(site):
    """Conversations of users go after 30 days."""
    site.run(RULE.format(change="create(role='user', days=30)"))
    yield
    site.run(RULE.format(change="all().delete()"))


def notice(page):
    return page.locator('[data-part="retention"]')


@pytest.mark.usefixtures("rule")
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
