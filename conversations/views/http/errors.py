"""Error responses: JSON for our scripts, a page for every other client."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.urls import reverse
from django.utils.translation import get_language_from_request, override
from django_htmx.http import HttpResponseClientRedirect

from chatsite.accounts.preferences.reader_language import reader_language
from chatsite.postgres.pool import is_pool_full
from conversations.access import require_admitted
from conversations.core.errors import (
    AccessError,
    CallNotAwaitingApproval,
    CallNotFound,
    CompletionError,
    ConversationError,
    ConversationNotFound,
    DocumentError,
    DocumentNotFound,
    DocumentStorageFull,
    DocumentTooLarge,
    FilesTooLarge,
    FrameError,
    GateClosed,
    InputError,
    LimitReached,
    MessageExcluded,
    MessageNotEditable,
    MessageNotFound,
    NothingToRegenerate,
    PictureError,
    PictureNotFound,
    PicturesGone,
    PictureTooLarge,
    PictureTooManyPixels,
    PromptError,
    ReplyInProgress,
    RequestTooLarge,
    RequestTooSlow,
    ScenarioNotFound,
    SignInRequired,
    SiteBusy,
    SummaryChanged,
    SummaryTooLong,
    TooManyFiles,
    TooManyPictures,
    TooManyRequestsAtOnce,
    UploadTooLarge,
)
from conversations.wording.error_sentences import ReaderLocale, error_sentence, request_reader

# The first class that fits decides.
STATUSES: dict[type[ConversationError], int] = {
    SignInRequired: 401,
    ConversationNotFound: 404,
    MessageNotFound: 404,
    ScenarioNotFound: 404,
    DocumentNotFound: 404,
    PictureNotFound: 404,
    CallNotFound: 404,
    CallNotAwaitingApproval: 409,
    ReplyInProgress: 409,
    NothingToRegenerate: 409,
    MessageExcluded: 409,
    MessageNotEditable: 409,
    PicturesGone: 409,
    SummaryChanged: 409,
    SummaryTooLong: 413,
    LimitReached: 429,
    TooManyRequestsAtOnce: 429,
    AccessError: 403,
    PromptError: 413,
    RequestTooLarge: 413,
    UploadTooLarge: 413,
    RequestTooSlow: 408,
    DocumentTooLarge: 413,
    DocumentStorageFull: 413,
    FilesTooLarge: 413,
    TooManyFiles: 413,
    PictureTooLarge: 413,
    PictureTooManyPixels: 413,
    TooManyPictures: 413,
    DocumentError: 400,
    PictureError: 400,
    InputError: 400,
    FrameError: 400,
    CompletionError: 502,
    SiteBusy: 503,
    ConversationError: 500,
}
RETRY_AFTER_SECONDS = 2
View = Callable[..., HttpResponseBase]
Refuse = Callable[..., HttpResponse]


def wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def status_of(error: ConversationError) -> int:
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def show_refusal(request: HttpRequest, error: ConversationError, **kwargs: object) -> HttpResponse:
    """Answer with a page of its own that says what was refused."""
    context = {"error": _sentence(request, error), "back": _page_of(kwargs)}
    return render(request, "conversations/refused.html", context)


def answers_errors(*, refuse: Refuse = show_refusal) -> Callable[[View], View]:
    """Let in only who may come in, and answer a `ConversationError`; *refuse* makes the page for it."""

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, **kwargs: object) -> HttpResponseBase:
            try:
                require_admitted(request.user)
                return view(request, **kwargs)
            except ConversationError as error:
                return _refusal(request, error, refuse, kwargs)

        return answer

    return decorate


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django itself refuses to read; what is too much of it is told apart from nonsense."""
    if isinstance(exception, RequestDataTooBig):
        return refused(request, RequestTooLarge())
    if isinstance(exception, TooManyFilesSent):
        return refused(request, TooManyFiles(most=settings.DATA_UPLOAD_MAX_NUMBER_FILES))
    with override(reader_language(request)):  # it may be refused before the reader's language was determined
        return render(request, "400.html", status=400)


def server_error(request: HttpRequest) -> HttpResponse:
    """What failed in a way that no view has words for; a full connection pool passes, all else is our fault."""
    is_full = is_pool_full(sys.exc_info()[1])
    error = SiteBusy() if is_full else ConversationError()
    status = status_of(error)
    # The user's own language would be asked of the database, which may be what failed.
    reader = ReaderLocale(get_language_from_request(request))
    if wants_json(request):
        response: HttpResponse = JsonResponse(
            {"code": error.code, "message": error_sentence(error, reader)}, status=status
        )
    else:
        with override(reader.language_code):
            template = "503.html" if is_full else "500.html"
            response = HttpResponse(loader.render_to_string(template), status=status)
    if is_full:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def refused(request: HttpRequest, error: ConversationError) -> HttpResponse:
    """Return the answer to a request that no view has seen."""
    return _refusal(request, error, show_refusal, {})


def _refusal(request: HttpRequest, error: ConversationError, refuse: Refuse, kwargs: dict[str, object]) -> HttpResponse:
    status = status_of(error)
    if wants_json(request):
        return JsonResponse(_for_scripts(request, error), status=status)
    if isinstance(error, (SignInRequired, GateClosed)):
        return _to_the_door(request, error, kwargs)
    if isinstance(error, (ConversationNotFound, MessageNotFound, DocumentNotFound, PictureNotFound, CallNotFound)):
        raise Http404 from error
    response = refuse(request, error, **kwargs)
    response.status_code = status
    return response


def _for_scripts(request: HttpRequest, error: ConversationError) -> dict[str, str]:
    """Return what a script is told; *door* says where the user must go before anything else is answered."""
    told = {"code": error.code, "message": _sentence(request, error)}
    return told | {"door": "gate"} if isinstance(error, GateClosed) else told


def _sentence(request: HttpRequest, error: ConversationError) -> str:
    return error_sentence(error, request_reader(request))


def _to_the_door(request: HttpRequest, error: ConversationError, kwargs: Mapping[str, object]) -> HttpResponse:
    """Let the user sign in, or come through the gate, and then go back to the page they were on."""
    door = reverse("gate") if isinstance(error, GateClosed) else None
    redirection = redirect_to_login(_page_to_come_back_to(request, kwargs), door)
    if getattr(request, "htmx", None):
        return HttpResponseClientRedirect(redirection.url)
    return redirection


def _page_to_come_back_to(request: HttpRequest, kwargs: Mapping[str, object]) -> str:
    """Return the page that is shown; an address that is only posted to is none."""
    if details := getattr(request, "htmx", None):
        return details.current_url_abs_path or "/"
    return request.get_full_path() if request.method in ("GET", "HEAD") else _page_of(kwargs)


def _page_of(kwargs: Mapping[str, object]) -> str:
    """Return the page of the conversation that was asked about, or of a new one."""
    if "public_id" not in kwargs:
        return reverse("conversations:new")
    return reverse("conversations:conversation", args=[kwargs["public_id"]])
