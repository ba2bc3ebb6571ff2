"""Make a conversation long, and find what is wider than its page."""

from __future__ import annotations

from playwright.sync_api import Page

MAKE_LONG = """
from django.db import transaction
from conversations.models import Conversation, Message
conversation = Conversation.objects.get(public_id="{public_id}")
parent = conversation.head
with transaction.atomic():
    for position in range(2, {end}):
        role = "user" if position % 2 == 0 else "assistant"
        parent = Message.objects.create(conversation=conversation, parent=parent, position=position, role=role,
            content=f"message number {{position}} " * 20, content_tokens=100, encoding="o200k_base")
    Conversation.objects.filter(pk=conversation.pk).update(head=parent)
"""
SCROLLED_SIDEWAYS = """() => [...document.querySelectorAll("*")]
  .filter((e) => e === document.documentElement || ["auto", "scroll"].includes(getComputedStyle(e).overflowX))
  .filter((e) => e.scrollWidth > e.clientWidth)
  .map((e) => e.tagName)"""


def make_long(site, page: Page, *, messages: int) -> None:
    """Let the conversation on the page have that many messages, without telling the page.

    All at once: a page that happens to ask meanwhile must not take half of them.
    """
    site.run(MAKE_LONG.format(public_id=page.url.rstrip("/").rpartition("/")[2], end=messages))
