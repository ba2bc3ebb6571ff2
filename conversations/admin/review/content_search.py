"""Search in the content of all conversations: with a reason, on record, answered with numbers and dates alone."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from conversations.admin.review.content_access import reviewer_of
from conversations.core.errors import ConversationError, LookUpTooCostly, ReadingDisabled
from conversations.core.text.reading_reason import FEWEST_CHARACTERS, MOST_CHARACTERS, clean_line
from conversations.models import Reading
from conversations.selectors.review.content_search import MOST_CONVERSATIONS, conversations_with
from conversations.selectors.review.readings import search_that_holds, searched_words
from conversations.services.review.readings import MOST_DETAIL, RIGHT, log_hits, open_search, require_reviewer
from conversations.wording.error_sentences import error_sentence, request_reader

SEARCH = "conversations_reading_search"
FEWEST_LETTERS = 3


@require_http_methods(["GET", "POST"])
def search_content(request: HttpRequest) -> HttpResponse:
    """Ask for words and a reason; with a search that holds, say where the words stand."""
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    return _begin(request) if request.method == "POST" else _page(request)


def _begin(request: HttpRequest) -> HttpResponse:
    """Put the search on record, and lead to its hits by an address that names no words."""
    words, reason = clean_line(request.POST.get("words", "")), request.POST.get("reason", "")
    if not FEWEST_LETTERS <= len(words) <= MOST_DETAIL:
        return _page(request, words=words, reason=reason, error=_("Enter 3 to 200 characters."))
    try:
        reading = open_search(reviewer_of(request), words, reason)
    except ConversationError as refusal:
        return _page(request, words=words, reason=reason, error=error_sentence(refusal, request_reader(request)))
    return redirect(reverse(f"admin:{SEARCH}", query={"reading": reading.public_id}))


def _page(request: HttpRequest, *, words: str = "", reason: str = "", error: str = "") -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "opts": Reading._meta,
        "title": _("Search messages"),
        "is_off": _is_off(request),
        "words_sought": words,
        "reason": reason,
        "error": error,
        "fewest_letters": FEWEST_LETTERS,
        "most_letters": MOST_DETAIL,
        "fewest_characters": FEWEST_CHARACTERS,
        "most_characters": MOST_CHARACTERS,
        **_hits(request),
    }
    return render(request, "admin/conversations/reading/search.html", context, status=400 if error else 200)


def _is_off(request: HttpRequest) -> bool:
    try:
        require_reviewer(reviewer_of(request))
    except ReadingDisabled:
        return True
    return False


def _hits(request: HttpRequest) -> dict[str, Any]:
    """Return where the words of the search in the address stand; nothing if it is over, or another reviewer's."""
    reading = _search_in_address(request)
    if reading is None or _is_off(request):
        return {}
    words = searched_words(reading)
    try:
        hits = conversations_with(words)
        log_hits(reading, hits)
    except LookUpTooCostly:
        messages.error(request, _("There is too much to search. Use rarer words."))
        return {}
    return {"reading": reading, "words_sought": words, "hits": hits, "is_cut": len(hits) == MOST_CONVERSATIONS}


def _search_in_address(request: HttpRequest) -> Reading | None:
    try:
        return search_that_holds(reviewer_of(request), uuid.UUID(request.GET.get("reading", "")))
    except ValueError:
        return None
