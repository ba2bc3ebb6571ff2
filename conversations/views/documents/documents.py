"""Views that list, add, download, delete and retry the documents of a conversation, a folder or a scenario.

Each view answers three addresses, which differ in what they name: *public_id* of the conversation, *folder_id* or
*scenario_id*.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_POST

from conversations.access import find_conversation, find_document, find_scenario_with_documents
from conversations.core.errors import (
    ConversationError,
    ConversationNotFound,
    DocumentError,
    FileMissing,
    InputError,
    ScenarioNotFound,
)
from conversations.live.database_threads import in_thread
from conversations.models import Document
from conversations.selectors.conversations.documents import read_piece
from conversations.selectors.conversations.folders import find_folder
from conversations.services.documents.documents import (
    AddedDocument,
    Place,
    add_document,
    add_to_conversation,
    delete_document,
    largest_file_bytes,
    read_again,
)
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, show_refusal, status_of, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.inert_policy import INERT
from conversations.wording.error_sentences import error_sentence, request_reader

from .document_list import Addresses, documents_context

PIECE_BYTES = 2**20


def show_missing_documents(request: HttpRequest, error: ConversationError, **address: object) -> HttpResponse:
    """A scenario in the address is not found; one that was chosen beside it is refused."""
    if isinstance(error, ScenarioNotFound) and "scenario_id" in address:
        raise Http404 from error
    return show_refusal(request, error, **address)


def _find_place(request: HtmxRequest, address: dict[str, Any]) -> Place:
    if "scenario_id" in address:
        return find_scenario_with_documents(request.user, address["scenario_id"])
    if "folder_id" in address:
        return find_folder(request.user, address["folder_id"])
    return find_conversation(request.user, address["public_id"])


@require_GET
@answers_errors(refuse=show_missing_documents)
def documents(request: HtmxRequest, **address: Any) -> HttpResponse:
    """The list: a page, or a piece of one that asks again while anything moves."""
    return _list(request, _find_place(request, address))


def _list(request: HtmxRequest, place: Place, **beside: object) -> HttpResponse:
    template = "conversations/_documents.html" if request.htmx else "conversations/documents.html"
    context = documents_context(place, request_reader(request)) | {"folded": "folded" in request.GET}
    return render(request, template, context | beside)


@dataclass(frozen=True, slots=True)
class SentFile:
    """The outcome of one uploaded file: it is stored as a document, or refused."""

    name: str
    added: AddedDocument | None = None
    refusal: ConversationError | None = None


@require_POST
@answers_errors(refuse=show_missing_documents)
def add(request: HtmxRequest, **address: Any) -> HttpResponse:
    """Keep each file that can be kept; the first one begins a conversation that is not stored yet."""
    keep = _keeper(request, address)
    sent = [_sent(file, keep) for file in request.FILES.getlist("files")]
    if not sent:
        raise FileMissing
    return _for_scripts(request, sent) if wants_json(request) else _for_people(request, sent, address)


def _keeper(request: HtmxRequest, address: dict[str, Any]) -> Callable[..., AddedDocument]:
    """Return what keeps a file in the place of *address*, which is looked for once."""
    if "public_id" not in address:
        place = _find_place(request, address)
        return lambda **file: add_document(user=request.user, place=place, **file)
    beginning = {"public_id": address["public_id"], **parameters.beginning(request)}
    return lambda **file: add_to_conversation(user=request.user, **beginning, **file)


def _sent(file: UploadedFile[Any], keep: Callable[..., AddedDocument]) -> SentFile:
    """Nothing of a file is read that is larger than a document may be. What is not the file's fault is raised."""
    name = file.name or ""
    try:
        return SentFile(name, keep(name=name, content=file.read(largest_file_bytes() + 1)))
    except (InputError, DocumentError) as refusal:
        # Its traceback would hold the content of each file until the answer to all of them.
        return SentFile(name, refusal=refusal.with_traceback(None))


def _for_scripts(request: HtmxRequest, sent: list[SentFile]) -> JsonResponse:
    """Tell of each file; where none is kept, the first refusal is that of the whole."""
    outcomes = [_file_outcome(request, file) for file in sent]
    answer: dict[str, Any] = {"documents": outcomes}
    if all(file.refusal for file in sent):
        answer |= {"code": outcomes[0]["error"], "message": outcomes[0]["message"]}
    return JsonResponse(answer, status=_status(sent))


def _file_outcome(request: HtmxRequest, file: SentFile) -> dict[str, Any]:
    if file.added is None:
        error = file.refusal or FileMissing()
        return {"name": file.name, "error": error.code, "message": error_sentence(error, request_reader(request))}
    document = file.added.document
    return {"name": document.name, "document": str(document.public_id), "created": file.added.created}


def _status(sent: list[SentFile]) -> int:
    added = [file.added for file in sent if file.added]
    if added:
        return 201 if any(each.created for each in added) else 200
    return next(status_of(file.refusal) for file in sent if file.refusal)


def _for_people(request: HtmxRequest, sent: list[SentFile], address: dict[str, Any]) -> HttpResponse:
    """Back to where the form was; the list, with what was refused, if anything was."""
    refused = [_file_outcome(request, file) for file in sent if file.refusal]
    if not refused:
        pages = {"scenario_id": "scenario_documents", "folder_id": "folder", "public_id": "conversation"}
        [name] = (page for key, page in pages.items() if key in address)
        return redirect(f"conversations:{name}", *address.values())
    try:
        response = _list(request, _find_place(request, address), refused=refused)
    except ConversationNotFound:  # which nothing has begun
        response = show_refusal(request, next(file.refusal for file in sent if file.refusal), **address)
    response.status_code = _status(sent)
    return response


@require_GET
@answers_errors(refuse=show_missing_documents)
def download(request: HtmxRequest, document_id: uuid.UUID, **address: Any) -> HttpResponseBase:
    """The file as it was sent, to be saved: no browser shows it as a page of this site."""
    document = find_document(request.user, _find_place(request, address), document_id)
    response = StreamingHttpResponse(_pieces(document), content_type="application/octet-stream")
    response["Content-Length"] = str(document.size_bytes)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=document.name)
    response["Content-Security-Policy"] = INERT
    return response


async def _pieces(document: Document) -> AsyncIterator[bytes]:
    """Yield the file in pieces, as fast as it is taken; it ends early if it is deleted meanwhile."""
    for start in range(0, document.size_bytes, PIECE_BYTES):
        yield await in_thread(read_piece)(document.pk, start=start, size=PIECE_BYTES)


@require_POST
@answers_errors(refuse=show_missing_documents)
def delete(request: HtmxRequest, document_id: uuid.UUID, **address: Any) -> HttpResponse:
    place = _find_place(request, address)
    delete_document(find_document(request.user, place, document_id))
    return _changed(request, place)


@require_POST
@answers_errors(refuse=show_missing_documents)
def again(request: HtmxRequest, document_id: uuid.UUID, **address: Any) -> HttpResponse:
    """Read a document again that could not be read, or get the vectors that it lacks."""
    place = _find_place(request, address)
    read_again(find_document(request.user, place, document_id))
    return _changed(request, place)


def _changed(request: HtmxRequest, place: Place) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({})
    return _list(request, place) if request.htmx else redirect(Addresses.of(place).list)
