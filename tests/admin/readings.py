"""Readings as reviewers open them, for the admin's tests."""

from __future__ import annotations

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import User
from conversations.models import Conversation, Reading
from conversations.services.review.readings import open_reading

REASON = "A customer asked for help"


def page_of(conversation: Conversation) -> str:
    return reverse("admin:conversations_conversation_change", args=[conversation.pk])


def read_by(reviewer: User, conversation: Conversation) -> Reading:
    """Let *reviewer* read *conversation* for half an hour."""
    return open_reading(reviewer, conversation, REASON)


def give_reason(browser: Client, conversation: Conversation, reason: str = REASON, **fields: str) -> HttpResponse:
    """Post the form of the conversation's page."""
    url = reverse("admin:conversations_conversation_read", args=[conversation.pk])
    return browser.post(url, {"reason": reason, **fields})
