"""What a page shows of an import: how far it is, what it came to, and the conversations that are ready to go on."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from conversations.core.money.unit_prices import cost_usd
from conversations.core.money.usage import Usage
from conversations.models import Conversation, ConversationImport
from conversations.models.conversation_import import ImportState
from conversations.providers.catalog.published_prices import published_context_window
from conversations.selectors.conversations.imported import list_imports, longest_imported
from conversations.selectors.conversations.scenarios import list_scenarios
from conversations.services.imports.import_files import PIECE_BYTES, may_import
from conversations.services.imports.import_report import ImportReport
from conversations.services.language_models.model_context import conversation_context
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.views.http.body_limit import most_megabytes
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import request_reader, stored_error_sentence
from conversations.wording.import_reports import FORMATS, format_name, left_out, reason_sentence, taken_sentence

READY_SHOWN = 5
PROBLEMS_SHOWN = 20


class OtherModel(NamedTuple):
    """The language model that replied last in the other program, and its *context_window*: less than the *tokens*."""

    name: str
    context_window: int
    tokens: int


class ReadyConversation(NamedTuple):
    """A conversation that was imported; *next_usd* is the cost of one more before its reply, if known.

    *too_long_for* is set where the model that replied there could not take all of it any more.
    """

    conversation: Conversation
    messages: int
    next_usd: Decimal | None
    too_long_for: OtherModel | None


def page_context(request: HtmxRequest) -> dict[str, Any]:
    return {
        "imports": [import_context(request, found) for found in list_imports(request.user)],
        "may_import": may_import(request.user),
        "formats": _how_to(),
        "scenarios": list_scenarios(request.user),
        "most_megabytes": f"{settings.IMPORT_MEGABYTES:,}",
        "most_megabytes_by_form": f"{min(most_megabytes(), settings.IMPORT_MEGABYTES):,}",
        "piece_bytes": PIECE_BYTES,
    }


def _how_to() -> list[tuple[str, str]]:
    """Return the formats by name, and how people get a file of each."""
    words = {
        "chatgpt": _("Settings, Data controls, Export data. A link to a ZIP file comes by mail; send it as it is."),
        "claude": _("Settings, Privacy, Export data. Send all ZIP files that the mail leads to, together."),
        "open_webui": _("Settings, Chats, Export chats. That is a JSON file."),
        "librechat": _("The menu of a conversation, Export, as JSON. Several files can be sent at once."),
        "windowseat": _("Your account, Export. Send the ZIP file as it is."),
        "openai": _("A list of messages with role and content, or JSONL with one of them, or of their lists, a line."),
    }
    return [(str(FORMATS[name]), how) for name, how in words.items()]


def import_context(request: HtmxRequest, found: ConversationImport) -> dict[str, Any]:
    report = ImportReport.from_json(found.report)
    files = list(found.files.all())
    context = {
        "found": found,
        "is_moving": not found.has_ended,
        "is_uploading": found.state == ImportState.UPLOADING,
        "is_paused": found.state == ImportState.PAUSED,
        "can_pause": bool(files) and found.state in (ImportState.WAITING, ImportState.RUNNING),
        "state": _state_sentence(found, report),
        "came_to_nothing": found.has_ended and not report.formats,
        "names": ", ".join(file.name for file in files) or ", ".join(report.names),
        "megabytes": f"{sum(file.size_bytes for file in files) / 1_000_000:,.1f}",
        "percent": _percent(found),
        "conversations": report.conversations,
        "messages": report.total("messages_taken"),
        "messages_found": report.total("messages_found"),
        "per_second": _per_second(found, report),
        "pictures": report.pictures,
        "left": sum(report.left_out.values()) + sum(report.missing.values()),
        "formats": [(format_name(name), counts) for name, counts in report.formats.items()],
        "left_out": left_out(report.left_out),
        "missing": left_out(report.missing),
        "problems": [(title, reason_sentence(reason)) for title, reason in report.problems[:PROBLEMS_SHOWN]],
        "more_problems": max(len(report.problems) - PROBLEMS_SHOWN, 0) + report.unnamed_problems,
        "deleted": report.deleted[:PROBLEMS_SHOWN],
        "failed_files": [
            (file["name"], stored_error_sentence(file["code"], file["params"], request_reader(request)))
            for file in report.files[:PROBLEMS_SHOWN]
        ],
        "taken": taken_sentence(report),
        "error": stored_error_sentence(found.error_code, {}, request_reader(request)),
    }
    return context | {"ready": list(_ready(request, found)) if found.has_ended else []}


def _state_sentence(found: ConversationImport, report: ImportReport) -> str:
    return {
        ImportState.UPLOADING: _("Not sent whole yet"),
        ImportState.WAITING: _("Waiting for its turn"),
        ImportState.RUNNING: _("Stopping")
        if found.is_cancelled
        else _("Pausing")
        if found.is_pausing
        else _("Importing"),
        ImportState.PAUSED: _("Paused"),
        ImportState.ENDED: _("Imported") if report.formats or not report.files else _("Not imported"),
        ImportState.CANCELLED: _("Cancelled"),
        ImportState.FAILED: _("Not finished"),
    }[ImportState(found.state)]


def _percent(found: ConversationImport) -> int:
    if found.state == ImportState.UPLOADING:
        files = list(found.files.all())
        done, total = sum(file.received_bytes for file in files), sum(file.size_bytes for file in files)
    else:
        done, total = found.read_bytes, found.total_bytes
    return min(100 * done // total, 100) if total > 0 else 0


def _per_second(found: ConversationImport, report: ImportReport) -> int | None:
    if found.started_at is None or found.state != ImportState.RUNNING:
        return None
    seconds = (timezone.now() - found.started_at).total_seconds()
    return int(report.total("messages_found") / seconds) if seconds >= 1 else None


def _ready(request: HtmxRequest, found: ConversationImport) -> Iterable[ReadyConversation]:
    for conversation in longest_imported(found, limit=READY_SHOWN):
        messages = conversation.messages.filter(active=True, step_of=None).count()
        too_long_for = _find_too_small(conversation)
        yield ReadyConversation(conversation, messages, _next_usd(request, conversation), too_long_for)


def _find_too_small(conversation: Conversation) -> OtherModel | None:
    """Return the model of the last reply there if it is known to take less than the whole conversation has."""
    path = conversation.messages.filter(active=True)
    named = path.exclude(copied_model="").order_by("-position").values_list("copied_model", flat=True).first()
    context_window = published_context_window(named) if named else None
    if not named or context_window is None:
        return None
    tokens = path.aggregate(tokens=Sum("content_tokens"))["tokens"] or 0
    return OtherModel(named, context_window, tokens) if tokens > context_window else None


def _next_usd(request: HtmxRequest, conversation: Conversation) -> Decimal | None:
    """Return what the window of one more message costs, where its owner is shown costs and the price is known."""
    if not request.user.shows_costs:
        return None
    estimated = estimate_draft(user=request.user, conversation=conversation, content="")
    if estimated.window is None:
        return None
    prices = conversation_context(conversation).unit_prices(at=timezone.now())
    usage = Usage(input_tokens=estimated.prompt_tokens, output_tokens=0)
    return cost_usd(usage, prices) or None  # what costs nothing need not be said
