"""Access to the content of a conversation on the admin's pages: open within a reading, else the form that opens one."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from chatsite.accounts.models import User
from conversations.core.errors import ConversationError, ReadingDisabled, ReadingRefused
from conversations.core.text.reading_reason import FEWEST_CHARACTERS, MOST_CHARACTERS
from conversations.models import Conversation, Reading, ReadWhat
from conversations.selectors.review.readings import readings_of, reason_given
from conversations.services.review.readings import log_step, open_reading, require_reading
from conversations.wording.error_sentences import error_sentence, request_reader

MOST_LOGGED = 20
READ = "conversations_conversation_read"


@dataclass(frozen=True)
class ContentAccess:
    """Whether a reviewer is shown the content of *conversation*, and by which reading.

    Their own conversation is shown without one. *reason* is the one they gave for the search that led here.
    """

    conversation: Conversation
    is_open: bool
    reading: Reading | None = None
    is_off: bool = False
    reason: str = ""

    fewest_characters = FEWEST_CHARACTERS
    most_characters = MOST_CHARACTERS

    @property
    def title(self) -> str:
        return self.conversation.title if self.is_open else ""

    @property
    def address(self) -> str:
        """The address that a reason is posted to."""
        return reverse(f"admin:{READ}", args=[self.conversation.pk])

    @cached_property
    def log(self) -> list[Reading]:
        """Return the newest readings of the conversation, with what each was shown."""
        return list(readings_of(self.conversation)[: MOST_LOGGED + 1])

    @property
    def newest(self) -> list[Reading]:
        return self.log[:MOST_LOGGED]

    @property
    def has_more(self) -> bool:
        return len(self.log) > MOST_LOGGED


def reviewer_of(request: HttpRequest) -> User:
    return cast(User, request.user)  # the admin admits users alone


def content_access(request: HttpRequest, conversation: Conversation) -> ContentAccess:
    """Return whether the reviewer may see *conversation*'s content now."""
    try:
        reading = require_reading(reviewer_of(request), conversation)
    except ReadingRefused as refusal:
        return ContentAccess(
            conversation, is_open=False, is_off=isinstance(refusal, ReadingDisabled), reason=_reason_of_search(request)
        )
    return ContentAccess(conversation, is_open=True, reading=reading)


def logged_access(request: HttpRequest, conversation: Conversation, what: ReadWhat, detail: str) -> ContentAccess:
    """Return the same, and put on record that the page shows the content."""
    access = content_access(request, conversation)
    log_step(access.reading, what, detail)
    return access


def open_reading_by_form(request: HttpRequest, conversation: Conversation) -> HttpResponse:
    """Open a reading with the reason that was posted, and redirect to the page that asked for it."""
    try:
        open_reading(reviewer_of(request), conversation, request.POST.get("reason", ""))
    except ConversationError as refusal:
        messages.error(request, error_sentence(refusal, request_reader(request)))
    return redirect(_page_to_go_on_to(request, conversation))


def within_reading(
    request: HttpRequest, conversation: Conversation | None, show: Callable[[Reading | None], HttpResponseBase]
) -> HttpResponseBase:
    """Answer with *show* where there is a reading, and else with the page that asks for a reason."""
    if conversation is None:
        return redirect("admin:index")
    access = content_access(request, conversation)
    return show(access.reading) if access.is_open else redirect(_page_of(conversation))


def _page_to_go_on_to(request: HttpRequest, conversation: Conversation) -> str:
    """Return the page of the admin that the form stood on; nothing outside of it."""
    page = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(page, allowed_hosts=None) and page.startswith(reverse("admin:index"))
    return page if is_ours else _page_of(conversation)


def _page_of(conversation: Conversation) -> str:
    return reverse("admin:conversations_conversation_change", args=[conversation.pk])


def _reason_of_search(request: HttpRequest) -> str:
    try:
        return reason_given(reviewer_of(request), uuid.UUID(request.GET.get("reading", "")))
    except ValueError:
        return ""
