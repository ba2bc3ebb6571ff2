"""The template context of a conversation's page."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from chatsite.accounts.limits import effective_limits, settings_limits
from chatsite.addresses import address_of
from conversations.core.window.window_record import WindowRecord
from conversations.forms.tool_choice import chosen_tools
from conversations.models import Conversation, Folder, Scenario
from conversations.models.conversation import TEMPORARY, UNTITLED
from conversations.providers.catalog.language_models import demo_is_used
from conversations.selectors.conversations.documents import documents_count
from conversations.selectors.conversations.page_contents import page_contents
from conversations.selectors.conversations.scenarios import list_choices
from conversations.selectors.conversations.thread import (
    NO_MESSAGES,
    MessagePage,
    ThreadMessage,
    thread_page,
    thread_page_after,
    thread_page_around,
)
from conversations.selectors.conversations.web_search import searches_web, web_search_choice
from conversations.selectors.conversations.window import last_window
from conversations.selectors.conversations.window_coverage import EVERYTHING, Coverage, current_coverage
from conversations.selectors.figures.own_usage import totals_of_conversation
from conversations.selectors.figures.totals import Totals
from conversations.selectors.retention.holds import holds_on
from conversations.selectors.review.readings import newest_reading
from conversations.services.conversations.conversations import KEPT_TEMPORARILY
from conversations.services.limits.message_checks import user_allowances
from conversations.services.pictures.pictures import largest_picture_bytes
from conversations.views.documents.document_list import Addresses, adding_context, documents_context
from conversations.views.http import parameters
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.usage.money_left import money_left_sentence
from conversations.wording.error_sentences import request_reader
from conversations.wording.model_labels import model_label
from conversations.wording.window_labels import MARK_LABELS

from .draw_messages import draw_messages
from .message_menu import menu_of_any_message
from .model_menu import model_menu
from .new_address import new_address_to_extend
from .render_messages import render_messages, render_thread_page
from .scenario_menu import scenario_rows
from .summary_context import summary_view
from .tour import recalls_messages, tour_of
from .window_context import coverage_summary, window_summary

LONG_REPLY_SECONDS = 8  # people look elsewhere meanwhile
# What templates of the page ask for and mostly is not there: to find out that a name is missing takes longest.
UNSAID = dict.fromkeys(
    (
        *("draft", "draft_pictures", "is_shared", "is_narrowing", "error", "tour", "recalls", "is_htmx_answer"),
        *("made_by", "message_id", "pictures", "content", "most", "remark"),
    ),
    "",
)
# What a chooser of files offers; some browsers know no media type for HEIC.
PICTURE_KINDS = "image/png,image/jpeg,image/webp,image/gif,image/heic,image/heif,.heic,.heif"
SUGGESTIONS: Mapping[str, Promise] = {
    "current_time": gettext_lazy("What time is it?"),
    "calculator": gettext_lazy("What is 17 × 23?"),
    "search_conversation": gettext_lazy("What did I say about the invoice?"),
    "search_documents": gettext_lazy("What do my documents say about prices?"),
}


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """Which part of a thread is asked for: what is *before* or *after* a position, or what is around *at*.

    Without any of them it is the end.
    """

    before: int | None = None
    after: int | None = None
    at: int | None = None

    def page_of(self, conversation: Conversation) -> MessagePage:
        if self.at is not None:
            return thread_page_around(conversation, self.at)
        if self.after is not None:
            return thread_page_after(conversation, self.after)
        return thread_page(conversation, before=self.before)


THE_END = ThreadPlace()


def thread_context(request: HtmxRequest, conversation: Conversation, *, place: ThreadPlace = THE_END) -> dict[str, Any]:
    """The messages at a place and the newest, each marked by what the language model saw of it last.

    And the line above which it no longer sees them. Between a place and the newest there may be others, which are not
    on the page: *gap_position* is then the last position before them.
    """
    has_messages = page_contents(conversation).has_messages
    record = last_window(conversation) if has_messages else None
    coverage = current_coverage(conversation, record)
    page = place.page_of(conversation) if has_messages else NO_MESSAGES
    reader = request_reader(request)
    shown, has_gap = page.messages, False
    rendered = render_thread_page(page, reader=reader, coverage=coverage)
    if page.has_newer:
        newest = thread_page(conversation)
        has_gap = newest.first_position > page.last_position + 1
        missing = [message for message in newest.messages if message.position > page.last_position]
        rendered += render_messages(missing, reader=reader, coverage=coverage, model_before=newest.model_before)
        shown = [*shown, *missing]
    return {
        **_conversation_context(conversation),
        "messages_shown": draw_messages(conversation, rendered, reader=reader, request=request),
        "has_older": page.has_older,
        "first_position": page.first_position,
        "gap_position": page.last_position if has_gap else None,
        **_coverage_context(record, coverage),
        "has_blind": bool(shown) and shown[0].position < coverage.first_position,
        "horizon_position": _horizon_position(shown, coverage),
        "kept_summary": summary_view(conversation, request_reader(request)),
        "is_streaming": any(message.state == "streaming" for message in shown),
        "is_awaiting_approval": any(message.steps.awaits_approval for message in shown),
    }


def thread_piece_context(request: HtmxRequest, conversation: Conversation, place: ThreadPlace) -> dict[str, Any]:
    """The messages at a place alone, for a page that has the others."""
    record = last_window(conversation)
    coverage = current_coverage(conversation, record)
    page = place.page_of(conversation)
    reader = request_reader(request)
    rendered = render_thread_page(page, reader=reader, coverage=coverage)
    return {
        **_conversation_context(conversation),
        "messages_shown": draw_messages(conversation, rendered, reader=reader, request=request),
        "has_older": page.has_older,
        "first_position": page.first_position,
        "gap_position": page.last_position if page.has_newer else None,
        "asked_position": place.at,
    }


def _conversation_context(conversation: Conversation) -> dict[str, Any]:
    return {
        "conversation": conversation,
        "public_id": conversation.public_id,
    }


def _coverage_context(record: WindowRecord | None, coverage: Coverage) -> dict[str, Any]:
    """What a window holds, for the line above which it holds no more, and for the script that moves it."""
    return {
        "coverage": coverage,
        "coverage_summary": json.dumps(window_summary(record, coverage) if record else coverage_summary(coverage)),
        "window_model": model_label(record.language_model) if record else "",
        "window_tokens": record.budget_tokens if record else 0,
    }


def _horizon_position(messages: Sequence[ThreadMessage], coverage: Coverage) -> int | None:
    """Return the position of the message above which the line stands, if it is on this page.

    A window may begin with a step of a reply, which has no place of its own there.
    """
    first_seen = coverage.first_position
    if not first_seen or not messages or messages[0].position > first_seen:
        return None
    return next((message.position for message in messages if message.position >= first_seen), None)


def costs_context(conversation: Conversation) -> dict[str, Any]:
    """*costs* are the sums over all its requests, or None where its owner hides them."""
    costs = None
    if conversation.owner.shows_costs:
        costs = totals_of_conversation(conversation) if page_contents(conversation).has_requests else Totals()
    return {"conversation": conversation, "costs": costs}


def scenario_context(request: HtmxRequest, conversation: Conversation) -> dict[str, Any]:
    """The scenario, what it could be changed for, and the language model. Where there is no choice, none is shown."""
    chosen = conversation.scenario
    choices = list_choices(request.user, chosen)
    return {
        "scenario": chosen,
        "scenarios": scenario_rows(conversation, request.user, choices),
        "scenario_documents": next((choice.documented for choice in choices if choice.pk == chosen.pk), 0),
        "menu": model_menu(conversation, request.user),
        "message_menu": menu_of_any_message(request.user),
        "is_demo": demo_is_used(),
        "tools": chosen_tools(chosen),
        "suggestions": [question for tool, question in SUGGESTIONS.items() if tool in chosen.tools],
    }


def new_page_context(
    request: HtmxRequest, public_id: uuid.UUID, scenario: Scenario, *, folder: Folder | None = None
) -> dict[str, Any]:
    """The page of a conversation that begins with its first message, and the language model that the address names."""
    conversation = Conversation(
        public_id=public_id,
        owner=request.user,
        scenario=scenario,
        folder=folder,
        language_model=parameters.name(request, "language_model"),
        effort=parameters.name(request, "effort"),
        temporary_until=timezone.now() + KEPT_TEMPORARILY if _begins_temporary(request) else None,
    )
    return {
        **_context_of(request, conversation),
        "kept_summary": summary_view(conversation, request_reader(request)),
        "tour": tour_of(conversation),
        "recalls": recalls_messages(conversation),
    }


def _begins_temporary(request: HtmxRequest) -> bool:
    return "true" in (request.GET.get("temporary"), request.POST.get("temporary"))


def _title_of(conversation: Conversation) -> str:
    """Return what the page is called. The words of what is temporary are not kept in the history of a browser."""
    return gettext(TEMPORARY) if conversation.is_temporary else conversation.title or gettext(UNTITLED)


def _context_of(request: HtmxRequest, conversation: Conversation) -> dict[str, Any]:
    public_id, scenario = conversation.public_id, conversation.scenario
    limits = effective_limits(request.user) if page_contents(conversation).has_limits else settings_limits()
    folder_id = None if conversation.pk or conversation.is_temporary else conversation.folder_id
    return {
        **UNSAID,
        "public_id": public_id,
        **scenario_context(request, conversation),
        "title": _title_of(conversation),
        "temporary_until": conversation.temporary_until,
        "long_reply_seconds": LONG_REPLY_SECONDS,
        **_coverage_context(None, EVERYTHING),
        "mark_labels": json.dumps({mark: str(words) for mark, words in MARK_LABELS.items()}),
        "urls": json.dumps(_urls(conversation, folder_id)),
        "begins_in_folder": folder_id,
        **adding_context(Addresses("conversation", public_id)),
        **picture_context(),
        **folder_context(conversation),
        "web_search": web_search_choice(scenario),
        "client_id": uuid.uuid4(),
        "money_left": money_left_sentence(user_allowances(request.user, limits), request_reader(request)),
    }


def folder_context(conversation: Conversation) -> dict[str, Any]:
    """The folder that the conversation is in, and how many documents its questions are looked up in there."""
    folder = None if conversation.is_temporary else conversation.folder
    return {"in_folder": folder, "folder_documents": documents_count(folder) if folder else 0}


def picture_context() -> dict[str, Any]:
    """What the composer needs to add pictures."""
    return {
        "most_picture_bytes": largest_picture_bytes(),
        "most_picture_megabytes": settings.PICTURE_MEGABYTES,
        "most_pictures": settings.PICTURES_PER_MESSAGE,
        "picture_kinds": PICTURE_KINDS,
    }


def page_context(request: HtmxRequest, conversation: Conversation, *, place: ThreadPlace = THE_END) -> dict[str, Any]:
    """The page of a conversation with its newest messages, and those at a place."""
    contents = page_contents(conversation)
    return {
        **_context_of(request, conversation),
        **thread_context(request, conversation, place=place),
        **documents_context(conversation, request_reader(request), may_have_some=contents.has_documents),
        **costs_context(conversation),
        "newest_reading": newest_reading(conversation) if contents.was_read else None,
        "searches_web": searches_web(conversation),
        "holds": partial(holds_on, conversation),  # asked for where the user is told of one
    }


def _urls(conversation: Conversation, folder_id: int | None) -> dict[str, str]:
    """Return the addresses that scripts ask."""

    def of_conversation(name: str) -> str:
        return address_of(f"conversations:{name}", conversation.public_id)

    return {
        "new": address_of("conversations:new"),
        "newHere": new_address_to_extend(conversation),
        "conversation": of_conversation("conversation"),
        "messages": of_conversation("post"),
        "sync": of_conversation("sync"),
        "thread": of_conversation("thread"),
        "map": of_conversation("map"),
        "find": of_conversation("find"),
        "scenario": of_conversation("scenario"),
        "model": of_conversation("choose_model"),
        "webSearch": of_conversation("web_search"),
        "notes": of_conversation("notes"),
        "delete": of_conversation("delete"),
        "newTemporary": f"{address_of('conversations:new')}?temporary=true",
        "commands": address_of("conversations:commands") + "?" + (f"folder={folder_id}&" if folder_id else ""),
        "newPrompt": address_of("conversations:new_saved_prompt"),
        "prompts": address_of("conversations:saved_prompts"),
        "estimate": address_of("conversations:estimate"),
    }
