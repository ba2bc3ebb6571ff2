"""Views that estimate a draft: what would be sent now, as figures for the composer's meter and in full.

Django runs these views in threads of its own, so counting a long draft holds up no other user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from conversations.access import find_conversation
from conversations.core.window.window_record import WindowRecord
from conversations.models import Conversation
from conversations.selectors.conversations.never_recalled import list_never_recalled
from conversations.selectors.conversations.system_texts import system_texts
from conversations.selectors.conversations.window import view_window
from conversations.selectors.conversations.window_coverage import Coverage
from conversations.services.language_models.model_choice import conversation_toolbox
from conversations.services.messages.estimate_draft import DraftEstimate, estimate_draft
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.usage.money_left import money_sentences
from conversations.wording.error_sentences import error_sentence, request_reader
from conversations.wording.window_labels import PART_LABELS

from .summary_context import summary_view
from .window_context import window_context, window_summary


@require_POST
@answers_errors()
def estimate(request: HtmxRequest) -> HttpResponse:
    """What a draft would cost, how full the window would be with it, and which messages would be in it."""
    estimated = _estimate(request, _conversation(request))
    return JsonResponse(
        {
            "content_tokens": estimated.content_tokens,
            "picture_tokens": estimated.picture_tokens,
            "prompt_tokens": estimated.prompt_tokens,
            "budget_tokens": estimated.budget_tokens,
            "problem": _problem(request, estimated),
            "money": money_sentences(estimated, request_reader(request)),
            "window": _figures(estimated.window.record) if estimated.window else None,
        }
    )


@require_POST
@answers_errors()
def preview(request: HtmxRequest) -> HttpResponse:
    """The window that the draft would be sent in."""
    conversation = _conversation(request)
    estimated = _estimate(request, conversation)
    context = {
        "public_id": conversation.public_id if conversation else None,
        "estimate": estimated,
        "problem": _problem(request, estimated),
        "money": money_sentences(estimated, request_reader(request)),
        "kept_summary": summary_view(conversation, request_reader(request)) if conversation else None,
        "never_recalled_list": list_never_recalled(conversation) if conversation else None,
        **(_window_context(estimated, estimated.window.record) if estimated.window else {}),
    }
    template = "conversations/_preview.html" if request.htmx else "conversations/preview.html"
    return render(request, template, context)


def _conversation(request: HtmxRequest) -> Conversation | None:
    """Return the conversation that the draft belongs to; None if it would begin one."""
    public_id = parameters.optional_unique_id(request, "conversation")
    return find_conversation(request.user, public_id) if public_id else None


def _estimate(request: HtmxRequest, conversation: Conversation | None) -> DraftEstimate:
    return estimate_draft(
        user=request.user,
        conversation=conversation,
        content=parameters.content(request),
        scenario_id=parameters.scenario_id(request),
        folder_id=parameters.folder_id(request),
        language_model=parameters.name(request, "language_model"),
        with_recall=True,
        picture_ids=parameters.picture_ids(request),
        begins_searching=parameters.is_switched_on(request, "searches_web"),
        begins_temporary=parameters.is_switched_on(request, "temporary"),
    )


def _problem(request: HtmxRequest, estimated: DraftEstimate) -> str:
    return error_sentence(estimated.error, request_reader(request)) if estimated.error else ""


def _figures(record: WindowRecord) -> dict[str, Any]:
    """Return what the meter draws, and which messages are pinned and excluded now: this is the coming window."""
    coverage = Coverage.of(record)
    return {
        **_summary(record, coverage),
        "parts": [*_parts(record), ("reserve", record.reply_reserve_tokens)],
        "pins": coverage.pins,
        "excluded": [message for message, reason in coverage.left_out.items() if reason == "excluded"],
    }


def _summary(record: WindowRecord, coverage: Coverage) -> dict[str, Any]:
    """Return the figures of a window that may never be sent: what it *would_recall*, if that was looked up."""
    summary = window_summary(record, coverage)
    recalled, positions = summary.pop("recalled"), summary.pop("recalled_positions")
    is_known = record.recall.is_looked_up
    return {
        **summary,
        "would_recall": recalled if is_known else None,
        "would_recall_positions": positions if is_known else None,
    }


def _parts(record: WindowRecord) -> Iterator[tuple[str, int]]:
    """Yield the parts with their tokens, in the order in which pages show them, and what is free."""
    parts = record.parts
    yield from ((part, parts[part]) for part in PART_LABELS)
    yield "free", parts["free"]


def _window_context(estimated: DraftEstimate, record: WindowRecord) -> dict[str, Any]:
    conversation, draft = estimated.conversation, estimated.draft.message.content
    tools = sorted(conversation_toolbox(conversation).tools)
    return window_context(view_window(record, system=system_texts(conversation), tools=tools, question=draft))
