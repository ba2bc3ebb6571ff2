"""Views that export conversations: one as a file, several as a ZIP."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from conversations.access import find_conversation
from conversations.core.errors import ExportUnderWay, FolderEmpty, FrameError, TemporaryNotExported
from conversations.core.text.file_names import fit_into_path
from conversations.core.text.zip_stream import Entries, zip_pieces
from conversations.models import Conversation, Folder
from conversations.models.conversation import UNTITLED
from conversations.selectors.conversations.conversation_list import Place, list_conversations
from conversations.selectors.conversations.folders import find_folder
from conversations.services.portability.conversation_json import whole_conversation_json
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.export_stream import export_response
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import ReaderLocale, request_reader

from .exported_markdown import markdown_pieces
from .exported_page import page_pieces

GATHERED_CHARACTERS = 64 * 1024
MOST_AT_ONCE = 1_000  # conversations in one ZIP; an account's export has all of them

Pieces = Callable[[Conversation, ReaderLocale], Iterator[str]]
# Kind → ending, media type, and what writes it.
KINDS: dict[str, tuple[str, str, Pieces]] = {
    "markdown": ("md", "text/markdown; charset=utf-8", markdown_pieces),
    "html": ("html", "text/html; charset=utf-8", page_pieces),
    "json": ("json", "application/json", lambda conversation, reader: whole_conversation_json(conversation)),
}


@require_GET
@answers_errors()
def export(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponseBase:
    """Send one conversation as a file of the `kind` in the query; without one, ask for it."""
    conversation = _exported(request, public_id)
    if "kind" not in request.GET:
        return _ask(request, conversation=conversation)
    ending, media_type, write = _kind(request.GET["kind"])
    pieces = gather(write(conversation, request_reader(request)))
    name = f"{_name(conversation)}.{ending}"
    return _sent(export_response(request.user, name, pieces, content_type=media_type))


@require_http_methods(["GET", "POST"])
@answers_errors()
def export_several(request: HtmxRequest) -> HttpResponseBase:
    """Send conversations in one ZIP of files of a `kind`; without one, ask for it.

    Those whose ids are given as `conversation`, or all of the `whole_folder`. (In the form that selects them, `folder`
    is where they are to be moved.)
    """
    given = request.POST if request.method == "POST" else request.GET
    folder = (
        find_folder(request.user, folder_id) if (folder_id := parameters.folder_id(request, "whole_folder")) else None
    )
    found = _all_of(folder) if folder else _chosen(request, given.getlist("conversation"))
    if "kind" not in given:
        return _ask(request, conversations=found, folder=folder)
    _kind(given["kind"])
    now = timezone.now()
    pieces = zip_pieces(_files(found, given["kind"], request_reader(request)), written_at=now)
    name = f"{(folder and fit_into_path(folder.name)) or settings.SITE_NAME} {now:%Y-%m-%d}.zip"
    return _sent(export_response(request.user, name, pieces, content_type="application/zip"))


def _ask(request: HtmxRequest, **context: object) -> HttpResponse:
    template = "conversations/_export.html" if request.htmx else "conversations/export.html"
    return render(request, template, context)


def _chosen(request: HtmxRequest, given: list[str]) -> list[Conversation]:
    ids = list(dict.fromkeys(map(_unique_id, given)))
    if not 1 <= len(ids) <= MOST_AT_ONCE:
        raise FrameError("conversation")
    return [_exported(request, public_id) for public_id in ids]


def _all_of(folder: Folder) -> list[Conversation]:
    """Return all conversations of the folder, also those that are starred or archived. Raises `FolderEmpty`."""
    found = list_conversations(folder.owner, Place.ANYWHERE, folder=folder, limit=None)
    if not found:
        raise FolderEmpty
    return found


def _exported(request: HtmxRequest, public_id: uuid.UUID) -> Conversation:
    """Return the user's own conversation. Raises `TemporaryNotExported` for one that is not kept."""
    conversation = find_conversation(request.user, public_id)
    if conversation.is_temporary:
        raise TemporaryNotExported
    return conversation


def _kind(name: str) -> tuple[str, str, Pieces]:
    if name not in KINDS:
        raise FrameError("kind")
    return KINDS[name]


def _unique_id(value: str) -> uuid.UUID:
    try:
        return uuid.UUID(value)
    except ValueError:
        raise FrameError("conversation") from None


def _sent(response: HttpResponseBase | None) -> HttpResponseBase:
    if response is None:
        raise ExportUnderWay
    return response


def _files(conversations: Iterable[Conversation], kind: str, reader: ReaderLocale) -> Entries:
    ending, _media_type, write = KINDS[kind]
    for conversation in conversations:
        day = f"{conversation.created_at:%Y-%m-%d}"
        with reader.activated():  # made after the request, where no language is active any more
            title = _name(conversation)
        name = f"{day} {title} ({conversation.public_id.hex[:8]}).{ending}"
        yield name, (piece.encode() for piece in write(conversation, reader))


def _name(conversation: Conversation) -> str:
    return fit_into_path(conversation.title) or _(UNTITLED)


def gather(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield *pieces* joined, so that a conversation of many small messages is sent in few parts."""
    waiting: list[str] = []
    characters = 0
    for piece in pieces:
        waiting.append(piece)
        characters += len(piece)
        if characters >= GATHERED_CHARACTERS:
            yield "".join(waiting).encode()
            waiting, characters = [], 0
    yield "".join(waiting).encode()
