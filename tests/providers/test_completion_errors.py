"""No exception of the packages under `completions` is left without a place in our tree."""

import aiohttp
import httpx2
import pytest

from conversations.core import errors
from conversations.providers.openai_api.provider_connection import (
    NotAnswered,
    Refused,
    find_refusal,
    to_completion_error,
)

REQUEST = httpx2.Request("POST", "http://provider.test/v1/chat/completions")

BY_STATUS = {
    302: errors.ProviderRejected,
    400: errors.ProviderRejected,
    401: errors.CredentialsRejected,
    403: errors.CredentialsRejected,
    404: errors.LanguageModelNotFound,
    409: errors.ProviderUnavailable,
    418: errors.ProviderRejected,
    422: errors.ProviderRejected,
    429: errors.RateLimited,
    500: errors.ProviderUnavailable,
}
NOT_SENT = (httpx2.ConnectTimeout, httpx2.PoolTimeout, aiohttp.ConnectionTimeoutError)
TIMED_OUT = (httpx2.TimeoutException, TimeoutError)
REJECTED = (
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.InvalidURL,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
)


def with_subclasses(root):
    yield root
    for subclass in root.__subclasses__():
        yield from with_subclasses(subclass)


def make(exception):
    """Return an instance of *exception* as bare as it can be made: the mapping reads nothing else."""
    with_text = type(exception.__name__, (exception,), {"__str__": lambda self: "it failed"})
    return with_text.__new__(with_text)


def expected_for(exception):
    if issubclass(exception, NOT_SENT):
        return errors.ProviderUnavailable
    if issubclass(exception, TIMED_OUT):
        return errors.ProviderTimedOut
    if issubclass(exception, REJECTED):
        return errors.ProviderRejected
    if issubclass(exception, httpx2.DecodingError):
        return errors.MalformedStream
    return errors.ProviderUnavailable


def refused(status, body):
    return to_completion_error(Refused(httpx2.Response(status, request=REQUEST), body))


EXTRA = {"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (422, {"object": "error", "message": {"detail": [EXTRA]}}, errors.DialectRejected),  # Mistral
        (422, {"detail": [EXTRA]}, errors.DialectRejected),  # FastAPI
        (400, {"detail": "This model's maximum context length is 4096 tokens."}, errors.ContextTooLong),
        (422, "prompt is too long: 5000 tokens > 4096 maximum", errors.ContextTooLong),
        (400, {"error": "llama3 does not support tools"}, errors.ToolsNotSupported),
        (400, {"message": "llama3 does not support tools"}, errors.ToolsNotSupported),
        (400, {"detail": None, "message": ["", 7, {}]}, errors.ProviderRejected),
    ],
)
def test_a_refusal_is_read_in_whatever_shape_it_comes(status, body, error):
    assert type(refused(status, body)) is error


def test_what_was_sent_is_not_in_the_log_though_the_refusal_quotes_it():
    error = refused(422, {"detail": [{**EXTRA, "input": "my diary", "ctx": {"given": "my diary"}}]})
    assert error.detail == "422 : Error code: 422 body stream_options Extra inputs are not permitted"


def test_what_a_refusal_says_is_in_the_log():
    told = {"message": "it is full", "code": "busy"}
    assert refused(500, {"error": told}).detail == refused(500, told).detail == "500 busy: Error code: 500 - it is full"


def test_a_refusal_of_any_depth_is_read():
    nested = "the end"
    for _ in range(900):
        nested = {"detail": [nested]}
    assert type(refused(400, nested)) is errors.ProviderRejected


@pytest.mark.parametrize(("status", "error"), BY_STATUS.items())
def test_a_status_gets_its_class(status, error):
    assert type(refused(status, None)) is error


@pytest.mark.parametrize(
    "exception",
    sorted(
        {
            *with_subclasses(httpx2.HTTPError),
            *with_subclasses(httpx2.StreamError),
            *with_subclasses(aiohttp.ClientError),
            httpx2.InvalidURL,
            TimeoutError,
            ConnectionResetError,
        },
        key=lambda exception: exception.__name__,
    ),
    ids=lambda exception: exception.__name__,
)
def test_an_exception_of_the_transport_gets_its_class(exception):
    assert type(to_completion_error(make(exception))) is expected_for(exception)


def test_a_connection_that_breaks_in_the_stream_is_a_broken_stream():
    assert type(to_completion_error(make(httpx2.ReadError), in_stream=True)) is errors.StreamBroken


def test_a_reset_that_the_transport_calls_a_timeout_is_none():
    reset = httpx2.ConnectTimeout("Server disconnected")
    reset.__cause__ = aiohttp.ServerDisconnectedError()
    unanswered = NotAnswered()
    unanswered.__cause__ = reset

    assert type(to_completion_error(unanswered)) is errors.ProviderUnavailable


def test_a_request_without_an_answer_is_the_providers_failure_for_whatever_reason():
    unanswered = NotAnswered()
    unanswered.__cause__ = RuntimeError("Session is closed")

    assert type(to_completion_error(unanswered)) is errors.ProviderUnavailable


@pytest.mark.parametrize(
    ("chunk", "found"),
    [
        ({"object": "error", "message": "m", "code": 400}, True),
        ({"type": "error", "message": "m"}, True),
        ({"object": "chat.completion.chunk", "choices": []}, False),
        ([], False),
    ],
)
def test_a_refusal_can_come_as_a_chunk(chunk, found):
    assert (find_refusal(chunk) is not None) == found
