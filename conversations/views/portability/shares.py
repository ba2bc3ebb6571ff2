"""Views of a user's own shares: the form that makes one, the list of all, and their ends."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import fields
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chatsite.accounts.models import SecurityEventKind
from chatsite.accounts.preferences.reader_time_zone import reader_time_zone
from chatsite.accounts.security.security_log import record_request_event
from conversations.access import find_conversation, find_share
from conversations.core.errors import (
    FrameError,
    SharedMessagesTooMany,
    SharesOff,
    ShareStorageFull,
    TemporaryNotExported,
    TooManyShares,
)
from conversations.models import Conversation, Message, Share
from conversations.models.message import MessageRole, MessageState
from conversations.services.portability.share_conversation import MOST_SHARES, last_shareable, share_conversation
from conversations.services.portability.shared_rows import ShareChoices
from conversations.services.portability.shares import change_end, link_of, revoke_share
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, status_of
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import error_sentence, request_reader

ENDS_AFTER = dt.timedelta(days=30)
CHOICES = tuple(field.name for field in fields(ShareChoices))


@require_http_methods(["GET", "POST"])
@answers_errors()
def share(request: HtmxRequest, public_id: uuid.UUID, message_id: int | None = None) -> HttpResponse:
    """Ask what of a conversation is to be shared, up to a message or to its end; and share it."""
    conversation = find_conversation(request.user, public_id)
    if settings.SHARES == "off":
        raise SharesOff
    if conversation.is_temporary:
        raise TemporaryNotExported
    last = last_shareable(conversation, message_id)
    if request.method == "GET":
        return render(request, "shares/share.html", _form(request, conversation, last))
    ends_at, is_past = _end_of(request)
    if is_past:
        context = _form(request, conversation, last) | {"end_is_past": True, "typed": request.POST}
        return render(request, "shares/share.html", context, status=400)
    try:
        made = share_conversation(
            user=request.user,
            conversation=conversation,
            message_id=last.pk,
            title=request.POST.get("title", ""),
            owner_name=request.user.name if "owner_name" in request.POST else "",
            ends_at=ends_at,
            shown=ShareChoices(**{name: name in request.POST for name in CHOICES}),
        )
    except (SharedMessagesTooMany, ShareStorageFull, TooManyShares) as refusal:
        said = {"error": error_sentence(refusal, request_reader(request)), "typed": request.POST}
        return render(
            request, "shares/share.html", _form(request, conversation, last) | said, status=status_of(refusal)
        )
    record_request_event(SecurityEventKind.SHARED, request, about=f"share {made.share.pk}")
    messages.success(request, _("Shared. This is its link:"))
    return redirect(f"{reverse('conversations:shares')}#share-{made.share.public_id}")


def _form(request: HttpRequest, conversation: Conversation, last: Message) -> dict[str, Any]:
    path = conversation.messages.filter(active=True, step_of=None, position__lte=last.position)
    newest = conversation.messages.filter(active=True, step_of=None).order_by("-position").first()
    return {
        "conversation": conversation,
        "last": last,
        "is_reply": last.role == MessageRole.ASSISTANT,
        "is_whole": newest == last,
        "is_streaming": newest is not None and newest.state == MessageState.STREAMING,
        "count": path.count(),
        "has_pictures": path.exclude(picture_ids=[]).exists(),
        "audience": settings.SHARES,
        "first_day": _today(request) + dt.timedelta(days=1),
        "last_day": _today(request) + ENDS_AFTER,
    }


def _end_of(request: HttpRequest) -> tuple[dt.datetime | None, bool]:
    """Return the end of the day that was typed, by the reader's clock, and whether that is past."""
    if not (typed := request.POST.get("ends_on", "")):
        return None, False
    try:
        day = dt.date.fromisoformat(typed)
        if not parameters.FIRST_YEAR < day.year <= parameters.LAST_YEAR:
            raise ValueError(typed)
    except ValueError:
        raise FrameError("ends_on") from None
    ends_at = dt.datetime.combine(day, dt.time.max, reader_time_zone(request.COOKIES))
    return ends_at, ends_at <= timezone.now()


def _today(request: HttpRequest) -> dt.date:
    return timezone.now().astimezone(reader_time_zone(request.COOKIES)).date()


@require_GET
@answers_errors()
def shares(request: HtmxRequest) -> HttpResponse:
    """All shares of the user, newest first, those that are over among them."""
    found = Share.objects.filter(owner=request.user).select_related("conversation")
    own_shares = [
        {"share": each, "link": link_of(each) if _can_be_read(each) else "", "is_open": _can_be_read(each)}
        for each in found[:MOST_SHARES]
    ]
    context = {"own_shares": own_shares, "audience": settings.SHARES, "first_day": _today(request)}
    return render(request, "shares/shares.html", context)


def _can_be_read(share: Share) -> bool:
    return share.is_open and share.conversation.deleted_at is None and settings.SHARES != "off"


@require_POST
@answers_errors()
def revoke(request: HtmxRequest, share_id: uuid.UUID) -> HttpResponse:
    """End a share at once."""
    found = find_share(request.user, share_id)
    revoke_share(found)
    record_request_event(SecurityEventKind.SHARE_REVOKED, request, about=f"share {found.pk}")
    messages.success(request, _("The link leads nowhere any more."))
    return redirect("conversations:shares")


@require_POST
@answers_errors()
def change(request: HtmxRequest, share_id: uuid.UUID) -> HttpResponse:
    """Let a share end on another day, or not by itself."""
    found = find_share(request.user, share_id)
    ends_at, is_past = _end_of(request)
    if is_past:
        messages.error(request, _("This day is past. To end the share now, revoke it."))
    else:
        change_end(found, ends_at)
        messages.success(request, _("Saved."))
    return redirect(f"{reverse('conversations:shares')}#share-{found.public_id}")


@require_POST
@answers_errors()
def delete(request: HtmxRequest, share_id: uuid.UUID) -> HttpResponse:
    """Delete a share, its copy of the words with it."""
    find_share(request.user, share_id).delete()
    messages.success(request, _("The share is deleted."))
    return redirect("conversations:shares")
