"""Error responses: JSON for our scripts, a page for every other client."""

from __future__ import annotations

import logging
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
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.defaults import page_not_found, permission_denied
from django_htmx.http import HttpResponseClientRedirect

from chatsite.accounts.preferences.reader_language import known_language, reader_language
from chatsite.postgres.faults import is_database_away
from chatsite.postgres.pool import is_pool_full
from conversations.access import require_admitted
from conversations.core.errors import (
    AccessError,
    ApiKeyNotFound,
    CallNotAwaitingApproval,
    CallNotFound,
    CompletionError,
    ConversationError,
    ConversationNotFound,
    DatabaseAway,
    DocumentError,
    DocumentNotFound,
    DocumentStorageFull,
    DocumentTooLarge,
    ExportUnderWay,
    FilesTooLarge,
    FolderEmpty,
    FolderNotFound,
    FrameError,
    GateClosed,
    ImportNotFound,
    ImportPieceMisplaced,
    ImportsForbidden,
    ImportTooLarge,
    InputError,
    LimitReached,
    MessageExcluded,
    MessageNotEditable,
    MessageNotFound,
    NothingToRegenerate,
    NothingToShare,
    PictureAlreadySent,
    PictureError,
    PictureNotFound,
    PicturesGone,
    PictureTooLarge,
    PictureTooManyPixels,
    PromptError,
    ReplyInProgress,
    RequestTooLarge,
    RequestTooSlow,
    SavedPromptNotFound,
    ScenarioNotFound,
    SharedMessagesTooMany,
    ShareNotFound,
    SharesOff,
    ShareStorageFull,
    SignInRequired,
    SiteBusy,
    SummaryChanged,
    SummaryTooLong,
    TemporaryNotExported,
    TooManyApiKeys,
    TooManyFiles,
    TooManyImports,
    TooManyPictures,
    TooManyRequestsAtOnce,
    TooManyShares,
    UploadTooLarge,
)
from conversations.wording.error_sentences import error_sentence, request_reader

from .api_errors import NOTHING_HERE, api_refusal, is_api, plain_api_error

logger = logging.getLogger(__name__)
# The first class that fits decides.
STATUSES: dict[type[ConversationError], int] = {
    SignInRequired: 401,
    ConversationNotFound: 404,
    MessageNotFound: 404,
    ScenarioNotFound: 404,
    SavedPromptNotFound: 404,
    FolderNotFound: 404,
    ShareNotFound: 404,
    ApiKeyNotFound: 404,
    TooManyApiKeys: 409,
    DocumentNotFound: 404,
    PictureNotFound: 404,
    ImportNotFound: 404,
    ImportsForbidden: 403,
    CallNotFound: 404,
    CallNotAwaitingApproval: 409,
    ReplyInProgress: 409,
    NothingToRegenerate: 409,
    SharesOff: 409,
    NothingToShare: 409,
    FolderEmpty: 409,
    SharedMessagesTooMany: 413,
    ShareStorageFull: 413,
    TooManyShares: 409,
    TemporaryNotExported: 409,
    ExportUnderWay: 429,
    MessageExcluded: 409,
    MessageNotEditable: 409,
    PicturesGone: 409,
    PictureAlreadySent: 409,
    ImportPieceMisplaced: 409,
    TooManyImports: 409,
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
    ImportTooLarge: 413,
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
    DatabaseAway: 503,
    ConversationError: 500,
}
LOOKS_LIKE_NOTHING = (
    *(ConversationNotFound, MessageNotFound, ShareNotFound, ApiKeyNotFound),
    *(DocumentNotFound, PictureNotFound, CallNotFound),
)
RETRY_AFTER_SECONDS = 2  # a turn in the queue
RETRY_AFTER_FAULT_SECONDS = 5  # the database, of which a failover takes longer
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
    if is_api(request):
        return plain_api_error(400, "bad_request", "The request could not be understood.")
    with override(reader_language(request)):  # it may be refused before the reader's language was determined
        return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403 in the form that was asked for."""
    return _json_error("forbidden", 403) if wants_json(request) else permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404 in the form that was asked for."""
    if is_api(request) or request.headers.get("Authorization", "").startswith("Bearer "):
        return plain_api_error(404, "not_found", NOTHING_HERE)
    return _json_error("not_found", 404) if wants_json(request) else page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 503 while the database is away, and 500 to what is our fault, in the form that was asked for."""
    error = sys.exc_info()[1]
    if is_api(request):
        return plain_api_error(500, "error", "This is our fault, and it has been logged.", "api_error")
    with override(known_language(request)):
        if error is None or not is_database_away(error):
            return _json_error("error", 500) if wants_json(request) else render_page("500.html", status=500)
        logger.warning("answered 503, because the database is away: %s", str(error).partition("\n")[0])
        code = SiteBusy.code if is_pool_full(error) else DatabaseAway.code
        response = _json_error(code, 503) if wants_json(request) else render_page("503.html", status=503)
        response["Retry-After"] = str(RETRY_AFTER_FAULT_SECONDS)
        response._has_been_logged = True  # type: ignore[attr-defined]  # one line is enough, without a traceback
        return response


def render_page(template: str, *, status: int) -> HttpResponse:
    """Return a page that needs neither session nor database."""
    return HttpResponse(loader.get_template(template).render(), status=status)


def _json_error(code: str, status: int) -> HttpResponse:
    sentences = {
        "forbidden": _("You may not see this."),
        "not_found": _("There is nothing at this address."),
        "error": _("This is our fault, and it has been logged. Try again in a moment."),
        SiteBusy.code: _(SiteBusy.template),
        DatabaseAway.code: _(DatabaseAway.template),
    }
    return JsonResponse({"code": code, "message": sentences[code]}, status=status)


def refused(request: HttpRequest, error: ConversationError) -> HttpResponse:
    """Return the answer to a request that no view has seen."""
    if is_api(request):
        return api_refusal(error)
    return _refusal(request, error, show_refusal, {})


def _refusal(request: HttpRequest, error: ConversationError, refuse: Refuse, kwargs: dict[str, object]) -> HttpResponse:
    status = status_of(error)
    if wants_json(request):
        return JsonResponse(_for_scripts(request, error), status=status)
    if isinstance(error, (SignInRequired, GateClosed)):
        return _to_the_door(request, error, kwargs)
    if isinstance(error, LOOKS_LIKE_NOTHING):
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
