"""The menu of a message: what a page makes each menu of, and a page of its own where no script opens it."""

from __future__ import annotations

import uuid
from typing import NamedTuple

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.text import Truncator
from django.views.decorators.http import require_GET

from chatsite.accounts.models import User
from conversations.access import find_conversation, find_version
from conversations.models import Completion, Message, Rating
from conversations.models.message import MessageRole
from conversations.services.language_models.model_choice import offered_models
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest

EXCERPT_WORDS = 40


class MessageMenu(NamedTuple):
    """Which items the menu of a message has, and which of them are on."""

    message_id: int
    offers_models: bool
    is_reply: bool = True
    can_be_sent: bool = True
    follows_others: bool = True
    is_rated: bool = True
    has_window: bool = True
    pinned: bool = False
    excluded: bool = False
    never_recalled: bool = False


def menu_of_any_message(user: User) -> MessageMenu:
    """Return the menu with every item, which the page's script makes those of its messages of."""
    return MessageMenu(message_id=0, offers_models=_offers_models(user))


@require_GET
@answers_errors()
def message_menu(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Show the menu of a message as a page."""
    conversation = find_conversation(request.user, public_id)
    message = find_version(conversation, message_id)
    context = {
        "public_id": public_id,
        "menu": _menu_of(message, request.user, conversation.forgotten_before),
        "excerpt": Truncator(message.content).words(EXCERPT_WORDS),
    }
    return render(request, "conversations/message_menu.html", context)


def _menu_of(message: Message, user: User, forgotten_before: int) -> MessageMenu:
    is_reply = message.role == MessageRole.ASSISTANT
    return MessageMenu(
        message_id=message.pk,
        offers_models=_offers_models(user),
        is_reply=is_reply,
        can_be_sent=bool(message.content) or not is_reply,
        follows_others=message.first_position - is_reply > forgotten_before,
        is_rated=Rating.objects.filter(reply=message).exists(),
        has_window=Completion.objects.filter(reply=message).exists(),
        pinned=message.pinned,
        excluded=message.excluded,
        never_recalled=message.never_recalled,
    )


def _offers_models(user: User) -> bool:
    return len(offered_models(user)) > 1
