"""Views of what was shared, for who has its link: the pages, a window record, a picture, and a copy to go on with.

A token that was guessed, is over or was revoked looks the same: a page that is not there. Wrong ones from one address
are counted, and answered with 429 above a limit; a right one opens its share all the same.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Func, IntegerField
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import http_date
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from chatsite.accounts.attempts import Limit, TooManyAttempts, count_network_attempt
from chatsite.accounts.gate.admission import Admission, find_admission
from chatsite.accounts.sign_up.one_time_links import hash_token
from conversations.access import find_shared, require_admitted
from conversations.core.errors import ConversationError, PictureNotFound, ShareNotFound
from conversations.models import Picture, Share, SharedMessage
from conversations.selectors.conversations.pictures import ShownPicture, pictures_of_conversation
from conversations.services.portability.continue_share import continue_share
from conversations.services.portability.shares import count_opening
from conversations.views.conversations.render_messages import render_ended
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, not_found, refused
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.pictures.pictures import picture_response
from conversations.wording.model_labels import model_label

from .shared_window import window_of_share
from .transcript import TranscriptCall, TranscriptMessage, TranscriptPicture, TranscriptSource, state_note

MESSAGES_OF_A_PAGE, BYTES_OF_A_PAGE = 100, 500_000
PURPOSE = "share"
WRONG_TOKENS = Limit(60, dt.timedelta(minutes=10))
HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "same-origin",  # with none at all no form of the page could be sent
    "Cache-Control": "private, no-store",
}

SharedView = Callable[..., HttpResponseBase]


def opens_share(view: SharedView) -> SharedView:
    """Give *view* the share that the token in the address opens for who asks."""

    @wraps(view)
    def open_share(request: HtmxRequest, token: str, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, _found(request, token), token=token, **kwargs)
        except TooManyAttempts as refusal:
            response = render(request, "429.html", status=429)
            response["Retry-After"] = http_date(refusal.opens_at.timestamp())
        except ShareNotFound:
            response = render(request, "shares/no_share.html", status=404)
        except PictureNotFound as error:
            response = not_found(request, error)
        except ConversationError as error:
            response = refused(request, error)
        response._has_been_logged = True  # type: ignore[attr-defined]  # the address has the token in it
        for name, value in HEADERS.items():
            response.setdefault(name, value)
        return response

    return open_share


def _found(request: HtmxRequest, token: str) -> Share:
    """Raises `TooManyAttempts`, `ShareNotFound`, or what keeps the reader out of the site.

    Only wrong tokens are counted, and none is refused that is right: who shares an address with someone who guesses
    reads on. A token has too many bits to be guessed at any rate; the limit spares the log and the database.
    """
    if settings.SHARES == "off":
        raise ShareNotFound
    if settings.SHARES == "signed-in":
        require_admitted(request.user)
    try:
        return find_shared(hash_token(token))
    except ShareNotFound:
        count_network_attempt(PURPOSE, request.META.get("REMOTE_ADDR", ""), WRONG_TOKENS)
        raise


@require_safe
@opens_share
def shared(request: HtmxRequest, share: Share, *, token: str) -> HttpResponse:
    """The pass and the messages of a share, a hundred on a page: `from` in the query is the first.

    Long ones are fewer: drawing a message of a million characters takes seconds, and anyone may ask for it.
    """
    first = max(parameters.position(request, "from") or 1, 1)
    shown, following = _messages_of_a_page(share, first)
    if request.method == "GET" and first == 1 and share.owner_id != request.user.pk:
        count_opening(share)
    context = {
        **_pass(request, share, token),
        "messages_shown": _messages(share, shown, token),
        "before": max(first - MESSAGES_OF_A_PAGE, 1) if first > 1 else None,
        "first": first,
        "last": shown[-1].number if shown else first,
        "next": following,
    }
    return render(request, "shares/shared.html", context)


def _messages_of_a_page(share: Share, first: int) -> tuple[list[SharedMessage], int | None]:
    """Return the messages from number *first* on, and the number of the first one of the next page."""
    size = Func("content", function="octet_length", output_field=IntegerField())
    sizes = share.messages.filter(number__gte=first).order_by("number").values_list("number", size)
    numbers: list[int] = []
    page_bytes = 0
    for number, content_bytes in sizes[: MESSAGES_OF_A_PAGE + 1]:
        page_bytes += content_bytes
        if len(numbers) == MESSAGES_OF_A_PAGE or (numbers and page_bytes > BYTES_OF_A_PAGE):
            return list(share.messages.filter(number__in=numbers).order_by("number")), number
        numbers.append(number)
    return list(share.messages.filter(number__in=numbers).order_by("number")), None


@require_safe
@opens_share
def shared_window(request: HtmxRequest, share: Share, *, token: str, number: int) -> HttpResponse:
    """What the model saw for one reply, where window records were chosen."""
    message = share.messages.filter(number=number).exclude(window=None).first()
    if message is None or not share.shows_windows:
        raise ShareNotFound
    window = window_of_share(share, message)
    context = {**_pass(request, share, token), "message": message, **window}
    return render(request, "shares/window.html", context)


@require_safe
@opens_share
def shared_picture(request: HtmxRequest, share: Share, *, token: str, picture_id: int) -> HttpResponse:
    """A picture of one of its messages, where pictures were chosen."""
    if not share.shows_pictures or not share.messages.filter(picture_ids__contains=[picture_id]).exists():
        raise ShareNotFound
    picture = Picture.objects.filter(pk=picture_id, conversation=share.conversation_id).first()
    if picture is None:
        raise ShareNotFound
    return picture_response(picture)


@require_POST
@answers_errors()
@opens_share
def continue_as_copy(request: HtmxRequest, share: Share, *, token: str) -> HttpResponse:
    """Copy what is shown into a conversation of the reader's own, and open it."""
    copy = continue_share(user=request.user, share=share)
    messages.success(request, _("Your own copy. What you write here is seen by you alone."))
    return redirect("conversations:conversation", copy.public_id)


def _pass(request: HtmxRequest, share: Share, token: str) -> dict[str, Any]:
    address = reverse("conversations:shared", args=[token])
    return {
        "share": share,
        "address": address,
        "token": token,
        "answered_by": [model_label(name) for name in share.answered_by],
        "may_continue": find_admission(request.user.pk) is Admission.ADMITTED,
        "left_out": _left_out(share),
    }


def _left_out(share: Share) -> str:
    """Return the sentence that says what is not shown."""
    if share.shows_windows and share.shows_system_prompt and share.shows_documents:
        return ""
    if share.shows_documents:
        return _("Instructions are not shown.")
    if share.shows_windows and share.shows_system_prompt:
        return _("Documents are not shown.")
    return _("Instructions and documents are not shown.")


def _messages(share: Share, rows: list[SharedMessage], token: str) -> list[TranscriptMessage]:
    ids = [picture for row in rows for picture in row.picture_ids]
    found = {each.id: each for each in pictures_of_conversation(share.conversation_id, ids)}
    return [_message(row, {pk: ShownPicture.of(each) for pk, each in found.items()}, token) for row in rows]


def _message(row: SharedMessage, pictures: dict[int, ShownPicture], token: str) -> TranscriptMessage:
    shown = [pictures[pk] for pk in row.picture_ids if pk in pictures]
    return TranscriptMessage(
        number=row.number,
        role=row.role,
        made_by=model_label(row.made_by) if row.made_by else "",
        created_at=row.said_at,
        html=render_ended(row.content),
        note=state_note(state=row.state, finish_reason=row.finish_reason),
        reasoning=row.reasoning,
        reasoning_seconds=row.reasoning_seconds,
        calls=[TranscriptCall(**call) for call in row.calls],
        pictures=[
            TranscriptPicture(
                reverse("conversations:shared_picture", args=[token, each.id]),
                each.alt_text or _("Picture"),
                each.place_width,
                each.place_height,
            )
            for each in shown
        ],
        sources=[TranscriptSource(each["source"], each["text"]) for each in row.sources],
        hidden_pictures=row.hidden_pictures,
        window=reverse("conversations:shared_window", args=[token, row.number]) if row.window else "",
    )
