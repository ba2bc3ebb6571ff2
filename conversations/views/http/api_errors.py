"""Errors of the API at `/v1` in OpenAI's form, which its clients read: `{"error": {message, type, param, code}}`."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from conversations.core.errors import (
    AccessError,
    AnswerNotKept,
    ApiKeyInvalid,
    ApiKeyNotFound,
    CompletionError,
    ConversationError,
    ConversationNotFound,
    DatabaseAway,
    ExportUnderWay,
    IdempotencyKeyReused,
    ItemNotFound,
    LanguageModelNotOffered,
    LimitReached,
    MoneyReserved,
    PromptError,
    RateLimited,
    RateReached,
    ReplyInProgress,
    RequestTooLarge,
    RequestTooSlow,
    ResponseNotFound,
    ScenarioNotFound,
    SignInRequired,
    SiteBusy,
    TooManyRepliesAtOnce,
    TooManyRequestsAtOnce,
    WindowNotFound,
)

PREFIX = "/v1/"
NOTHING_HERE = "There is nothing at this address. Those of the API begin with /v1, once, and have no slash at the end."
CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded"
# The first class that fits decides: status, and OpenAI's word for the kind of error.
KINDS: dict[type[ConversationError], tuple[int, str]] = {
    ApiKeyInvalid: (401, "authentication_error"),
    SignInRequired: (401, "authentication_error"),
    LanguageModelNotOffered: (404, "invalid_request_error"),
    ApiKeyNotFound: (404, "invalid_request_error"),
    ConversationNotFound: (404, "invalid_request_error"),
    WindowNotFound: (404, "invalid_request_error"),
    ItemNotFound: (404, "invalid_request_error"),
    ResponseNotFound: (404, "invalid_request_error"),
    ScenarioNotFound: (403, "permission_error"),
    LimitReached: (429, "rate_limit_error"),
    TooManyRepliesAtOnce: (429, "rate_limit_error"),
    TooManyRequestsAtOnce: (429, "rate_limit_error"),
    MoneyReserved: (429, "rate_limit_error"),
    AccessError: (403, "permission_error"),
    PromptError: (400, "invalid_request_error"),
    RequestTooLarge: (413, "invalid_request_error"),
    RequestTooSlow: (408, "invalid_request_error"),
    ReplyInProgress: (409, "invalid_request_error"),
    ExportUnderWay: (409, "invalid_request_error"),
    AnswerNotKept: (409, "invalid_request_error"),
    IdempotencyKeyReused: (422, "invalid_request_error"),
    RateLimited: (429, "rate_limit_error"),
    CompletionError: (502, "api_error"),
    SiteBusy: (503, "api_error"),
    DatabaseAway: (503, "api_error"),
}
# Asked again after a moment, the same may succeed; of all else the openai package is told not to try: it does, twice.
RETRYABLE = (
    RateReached,
    TooManyRepliesAtOnce,
    TooManyRequestsAtOnce,
    MoneyReserved,
    ReplyInProgress,
    ExportUnderWay,
    SiteBusy,
    DatabaseAway,
)
CODES: dict[type[ConversationError], str] = {
    ApiKeyInvalid: "invalid_api_key",
    LanguageModelNotOffered: "model_not_found",
    PromptError: CONTEXT_LENGTH_EXCEEDED,
}
PARAMETERS: dict[type[ConversationError], str] = {LanguageModelNotOffered: "model", PromptError: "messages"}


def is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(PREFIX)


def error_body(error: ConversationError) -> dict[str, Any]:
    """Return the error as it is told: in English, for developers."""
    _, kind = _kind_of(error)
    param = error.parameter or _first(PARAMETERS, error)
    code = _first(CODES, error) or error.code
    message = str(error)
    if isinstance(error, ReplyInProgress) and error.response_id:
        message = f"{message} It is the response {error.response_id}."
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def api_refusal(error: ConversationError) -> JsonResponse:
    """Return the response to what *error* ended."""
    status, _ = _kind_of(error)
    response = JsonResponse(error_body(error), status=status)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    if isinstance(error, LimitReached):
        response["Retry-After"] = str(error.wait_seconds(timezone.now()))
    response["x-should-retry"] = "true" if isinstance(error, RETRYABLE) else "false"
    return response


def plain_api_error(status: int, code: str, message: str, kind: str = "invalid_request_error") -> JsonResponse:
    """Return an error that is none of ours, such as an address where nothing is."""
    return JsonResponse({"error": {"message": message, "type": kind, "param": None, "code": code}}, status=status)


def _kind_of(error: ConversationError) -> tuple[int, str]:
    default = (400, "invalid_request_error") if not isinstance(error, CompletionError) else (502, "api_error")
    if type(error) is ConversationError:
        return 500, "api_error"
    return next((kind for kinds, kind in KINDS.items() if isinstance(error, kinds)), default)


def _first(table: dict[type[ConversationError], str], error: ConversationError) -> str | None:
    return next((value for kind, value in table.items() if isinstance(error, kind)), None)
