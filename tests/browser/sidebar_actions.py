"""What a user does to go from one conversation to another: steps for browser tests."""

from __future__ import annotations

from playwright.sync_api import expect

from .page_actions import session_of

MAKE_CONVERSATIONS = """
from importlib import import_module
from django.conf import settings
from django.utils import timezone
from conversations.models import Conversation
Session = import_module(settings.SESSION_ENGINE).SessionStore
own = Conversation.objects.filter(owner_id=Session("{session}")["_auth_user_id"])
first = own.get()
for number in range({count}):
    fields = {{"title": f"Old {{number}}", "title_is_given": True, "last_active_at": timezone.now()}}
    Conversation.objects.create(owner=first.owner, scenario=first.scenario, **fields)
"""


def listed(page, title):
    return page.get_by_role("navigation", name="Conversations").get_by_role("link", name=title, exact=True)


def heading(page):
    return page.get_by_role("heading", level=1)


def new_conversation(page):
    page.get_by_role("link", name="New conversation").click()
    expect(heading(page)).to_have_text("New conversation")


def has_not_been_loaded_again(page):
    return page.evaluate("window.stays === true")


def make_conversations(site, page, count):
    """Store so many conversations, “Old 0” and on, beside the only one of the user of *page*, which is older."""
    site.run(MAKE_CONVERSATIONS.format(session=session_of(page), count=count))
