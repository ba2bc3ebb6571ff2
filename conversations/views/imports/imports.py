"""Views that begin an import, take the pieces of its files, show how far it is, and pause, cancel or forget it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations.core.errors import ConversationError, FrameError
from conversations.models import ConversationImport
from conversations.services.imports.import_files import (
    PIECE_BYTES,
    SentFile,
    add_piece,
    begin_import,
    cancel_import,
    find_import,
    forget_import,
    pause_import,
    resume_import,
    start_import,
)
from conversations.services.imports.import_report import ImportReport
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, status_of, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.usage.csv_response import csv_response
from conversations.wording.error_sentences import error_sentence, request_reader
from conversations.wording.import_reports import left_out as left_out_lines
from conversations.wording.import_reports import reason_sentence

from .import_context import import_context, page_context

MOST_DIGITS = 15
PAGE, PIECE = "conversations/import.html", "conversations/_import.html"


def show_form_again(request: HttpRequest, error: ConversationError, **address: object) -> HttpResponse:
    """A refusal of a form stands on its page."""
    context = page_context(request) | {"refusal": error_sentence(error, request_reader(request))}  # type: ignore[arg-type]
    return render(request, PAGE, context, status=status_of(error))


@require_http_methods(["GET", "POST"])
@answers_errors()
def imports(request: HtmxRequest) -> HttpResponse:
    """The page of imports. By POST files begin one: their names and sizes by a script, their content by a form."""
    if request.method == "GET":
        return render(request, PAGE, page_context(request))
    try:
        if wants_json(request):
            begins_again = request.POST.get("again") == "yes"
            return JsonResponse(_plan(_begin(request, _named_files(request), begins_again=begins_again)), status=201)
        return _import_form(request)
    except ConversationError as error:
        if wants_json(request):
            raise
        return show_form_again(request, error)


def _begin(request: HtmxRequest, files: list[SentFile], *, begins_again: bool) -> ConversationImport:
    scenario_id = parameters.scenario_id(request)
    return begin_import(request.user, files, scenario_id=scenario_id, begins_again=begins_again)


def _named_files(request: HtmxRequest) -> list[SentFile]:
    names, sizes = request.POST.getlist("name"), request.POST.getlist("size")
    if len(names) != len(sizes):
        raise FrameError("size")
    return [SentFile(name, _number(size, "size")) for name, size in zip(names, sizes, strict=True)]


def _number(value: str | None, name: str) -> int:
    if value is None or not (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS):
        raise FrameError(name)
    return int(value)


def _plan(found: ConversationImport) -> dict[str, Any]:
    """Return where the pieces of each file are sent, and how much of it is here."""
    return {
        "import": reverse("conversations:import", args=[found.public_id]),
        "start": reverse("conversations:start_import", args=[found.public_id]),
        "files": [
            {
                "url": reverse("conversations:import_piece", args=[found.public_id, file.number]),
                "received": file.received_bytes,
                "digest": file.digest,
                "size": file.size_bytes,
            }
            for file in found.files.all()
        ],
    }


def _import_form(request: HtmxRequest) -> HttpResponse:
    sent = [file for file in request.FILES.getlist("files") if file.size]
    found = _begin(request, [SentFile(file.name or "", file.size or 0) for file in sent], begins_again=True)
    for number, file in enumerate(sent):
        start = 0
        for piece in _pieces(file):
            add_piece(found, number, start=start, content=piece)
            start += len(piece)
    start_import(found)
    return redirect("conversations:imports")


def _pieces(file: UploadedFile[Any]) -> Iterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece


@require_GET
@answers_errors()
def one(request: HtmxRequest, import_id: uuid.UUID) -> HttpResponse:
    """How far an import is: a piece of the page, or the page."""
    found = find_import(request.user, import_id)
    if request.htmx:
        return render(request, PIECE, import_context(request, found))
    return redirect("conversations:imports")


@require_POST
@answers_errors()
def piece(request: HtmxRequest, import_id: uuid.UUID, number: int) -> HttpResponse:
    """Store a piece of a file, which is the body of the request."""
    found = find_import(request.user, import_id)
    start = _number(request.GET.get("start", "0"), "start")
    return JsonResponse({"received": add_piece(found, number, start=start, content=request.body)})


@require_POST
@answers_errors()
def start(request: HtmxRequest, import_id: uuid.UUID) -> HttpResponse:
    start_import(find_import(request.user, import_id))
    return _changed(request)


@require_POST
@answers_errors()
def cancel(request: HtmxRequest, import_id: uuid.UUID) -> HttpResponse:
    cancel_import(find_import(request.user, import_id))
    return _changed(request)


@require_POST
@answers_errors()
def pause(request: HtmxRequest, import_id: uuid.UUID) -> HttpResponse:
    pause_import(find_import(request.user, import_id))
    return _changed(request)


@require_POST
@answers_errors()
def resume(request: HtmxRequest, import_id: uuid.UUID) -> HttpResponse:
    resume_import(find_import(request.user, import_id))
    return _changed(request)


@require_POST
@answers_errors()
def forget(request: HtmxRequest, import_id: uuid.UUID) -> HttpResponse:
    forget_import(find_import(request.user, import_id))
    return _changed(request)


def _changed(request: HtmxRequest) -> HttpResponse:
    return JsonResponse({}) if wants_json(request) else redirect("conversations:imports")


@require_GET
@answers_errors()
def left_out(request: HtmxRequest, import_id: uuid.UUID) -> HttpResponseBase:
    """All that was left out, as a table."""
    report = ImportReport.from_json(find_import(request.user, import_id).report)
    rows = [[each.number, each.what] for each in left_out_lines(report.left_out) + left_out_lines(report.missing)]
    rows += [[1, f"{title}: {reason_sentence(reason)}"] for title, reason in report.problems]
    return csv_response("left-out.csv", [_("Number"), _("Left out")], rows)
