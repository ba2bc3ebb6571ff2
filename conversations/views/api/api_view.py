"""Call a view of the API: the key is read and checked, and every error is told in OpenAI's form.

    Authorization: Bearer wsk_…  ─▶ key, owner, admission ─▶ scope ─▶ the view

Browsers of other sites are refused unless API_ORIGINS names them: there, too, the key decides and no cookie.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from functools import wraps
from typing import Any, TypeVar

from django.conf import settings
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers

from chatsite.accounts.models import SecurityEventKind
from chatsite.accounts.security.security_log import record_security_event
from chatsite.postgres.faults import is_database_away
from chatsite.postgres.pool import is_pool_full, release_connection
from conversations.core.api.json_body import shown_name
from conversations.core.errors import (
    ApiKeyInvalid,
    ApiKeyMissing,
    ApiOff,
    ConversationError,
    ParameterInvalid,
    SiteBusy,
)
from conversations.live.database_threads import in_api_thread
from conversations.models import ApiKey, ApiScope
from conversations.services.api.api_keys import authenticate, note_use, require_scope
from conversations.views.http.api_errors import api_refusal, plain_api_error

SCHEME = "bearer "
PREFLIGHT_SECONDS = "600"
HEADERS_TOLD = (
    "x-windowseat-window, x-windowseat-conversation, x-request-id, retry-after, x-should-retry, idempotent-replayed"
)
Answer = TypeVar("Answer")
ApiView = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def api_view(method: str, *scopes: ApiScope) -> Callable[[ApiView], ApiView]:
    """Let in requests by *method* with a key that has one of *scopes*; the view gets the key."""

    def decorate(view: ApiView) -> ApiView:
        @wraps(view)
        async def answer(request: HttpRequest, **kwargs: object) -> HttpResponseBase:
            if request.method == "OPTIONS":
                return _with_origin(request, HttpResponse(status=204, headers={"Allow": method}), method)
            return _with_origin(request, await _answer(request, **kwargs), method)

        async def _answer(request: HttpRequest, **kwargs: object) -> HttpResponseBase:
            if request.method != method:
                return _refuse_method(method)
            try:
                key = await in_database(find_key_of_request, request, scopes)
                return await view(request, key=key, **kwargs)
            except ConversationError as error:
                return api_refusal(error)
            except DatabaseError as error:
                if is_pool_full(error):
                    return api_refusal(SiteBusy())
                if is_database_away(error):
                    return plain_api_error(503, "unavailable", "The database can't be reached right now.", "api_error")
                raise

        answer.csrf_exempt = True  # type: ignore[attr-defined]  # no cookie is read, so none can be abused
        answer.scopes_of_methods = {method: scopes}  # type: ignore[attr-defined]  # for the description
        return answer

    return decorate


def api_view_without_key(method: str) -> Callable[[ApiView], ApiView]:
    """Let in all requests by *method*, while the API is on."""

    def decorate(view: ApiView) -> ApiView:
        @wraps(view)
        async def answer(request: HttpRequest, **kwargs: object) -> HttpResponseBase:
            if request.method == "OPTIONS":
                return _with_origin(request, HttpResponse(status=204, headers={"Allow": method}), method)
            if request.method != method:
                return _with_origin(request, _refuse_method(method), method)
            response = await view(request, **kwargs) if settings.API else api_refusal(ApiOff())
            return _with_origin(request, response, method)

        answer.csrf_exempt = True  # type: ignore[attr-defined]  # no cookie is read, so none can be abused
        return answer

    return decorate


def read_query(request: HttpRequest, *names: str, lists: Collection[str] = ()) -> dict[str, str]:
    """Return what the query string says. Raises `ParameterInvalid` for what is none of *names*, or is there twice.

    Of *lists* there may be several.
    """
    for name, values in request.GET.lists():
        if name not in (*names, *lists):
            raise ParameterInvalid(shown_name(name), "it is not supported")
        if name in names and len(values) > 1:
            raise ParameterInvalid(name, "it is there twice")
    return request.GET.dict()


async def in_database(answer: Callable[..., Answer], *arguments: Any) -> Answer:
    """Run *answer*, which reads and writes rows, in a thread; its connection goes back at once."""

    def run() -> Answer:
        try:
            return answer(*arguments)
        finally:
            release_connection()

    return await in_api_thread(run)()


def by_method(**views: ApiView) -> ApiView:
    """Return a view that hands each request to the one of *views* that answers its method."""

    async def answer(request: HttpRequest, **kwargs: object) -> HttpResponseBase:
        asked = request.headers.get("Access-Control-Request-Method") if request.method == "OPTIONS" else request.method
        if asked in views:
            return await views[asked](request, **kwargs)
        if request.method != "OPTIONS":
            return _with_origin(request, _refuse_method(*views), "")
        return await next(iter(views.values()))(request, **kwargs)

    answer.csrf_exempt = True  # type: ignore[attr-defined]  # no cookie is read, so none can be abused
    answer.scopes_of_methods = {  # type: ignore[attr-defined]  # for the description
        method: scopes
        for view in views.values()
        for method, scopes in view.scopes_of_methods.items()  # type: ignore[attr-defined]
    }
    return answer


def find_key_of_request(request: HttpRequest, scopes: tuple[ApiScope, ...]) -> ApiKey:
    """Return the key that *request* shows, and note that it is used. Raises an `AccessError`.

    What is refused is recorded with the key, which *request* has from then on as `api_key`.
    Wrong ones are not counted: a secret of 256 bits is not guessed. The security log has so many of a network.
    """
    if not settings.API:
        raise ApiOff
    header = request.headers.get("Authorization", "")
    try:
        text = header[len(SCHEME) :].strip()
        if header[: len(SCHEME)].lower() != SCHEME or not text:
            raise ApiKeyMissing
        key = authenticate(text)
    except ApiKeyInvalid:
        if header:
            address = request.META.get("REMOTE_ADDR", "")
            record_security_event(SecurityEventKind.KEY_REFUSED, address=address)
        raise
    request.api_key = key  # type: ignore[attr-defined]
    require_scope(key, *scopes)
    note_use(key)
    return key


def _refuse_method(*answered: str) -> HttpResponse:
    refusal = plain_api_error(405, "method_not_allowed", f"Only {' and '.join(answered)} is answered at this address.")
    refusal["Allow"] = ", ".join(answered)
    return refusal


def _with_origin(request: HttpRequest, response: HttpResponseBase, method: str) -> HttpResponseBase:
    """Allow the page that asks to read the response, if its origin is one of API_ORIGINS."""
    if not settings.API_ORIGINS:
        return response
    patch_vary_headers(response, ("Origin",))
    if (origin := request.headers.get("Origin")) in settings.API_ORIGINS:
        response["Access-Control-Allow-Origin"] = origin
        response["Access-Control-Expose-Headers"] = HEADERS_TOLD
        if request.method == "OPTIONS":
            response["Access-Control-Allow-Methods"] = method
            asked = request.headers.get("Access-Control-Request-Headers", "authorization, content-type")
            response["Access-Control-Allow-Headers"] = asked[:1_000]
            response["Access-Control-Max-Age"] = PREFLIGHT_SECONDS
    return response
