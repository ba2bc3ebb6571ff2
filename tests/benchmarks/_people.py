"""People with a session and a conversation each, and what is stored of their replies. Import when Django is set up."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

from django.conf import settings
from django.test import Client

from chatsite.accounts.models import User
from conversations.models import Message
from conversations.services.conversations.conversations import start_conversation


@dataclass(frozen=True, slots=True)
class Person:
    """A user who is signed in by *cookie* and talks in *conversation*."""

    cookie: str
    conversation: uuid.UUID

    def stored_reply(self) -> str:
        """Return the newest reply's content, which must be complete."""
        replies = Message.objects.filter(conversation__public_id=self.conversation, role="assistant", state="complete")
        return replies.latest("position").content


def make_people(count: int) -> list[Person]:
    return [_make_person(f"page{number}@example.org") for number in range(count)]


def _make_person(email: str) -> Person:
    user = User.objects.create_user(email)
    browser = Client()
    browser.force_login(user)
    session = browser.session  # as who has just given a password
    session["account_authentication_methods"] = [{"method": "password", "at": time.time(), "email": email}]
    session.save()
    conversation = start_conversation(user=user, public_id=uuid.uuid4())
    return Person(browser.cookies[settings.SESSION_COOKIE_NAME].value, conversation.public_id)
