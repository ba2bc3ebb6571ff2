"""No exception of the packages under `completions` is left without a place in our tree."""

import aiohttp
import httpx2
import openai
import pytest
from openai._exceptions import SubjectTokenProviderError

from conversations.core import errors
from conversations.providers.openai_api.provider_connection import find_refusal, to_completion_error

REQUEST = httpx2.Request("POST", "http://provider.test/v1/chat/completions")

EXPECTED = {
    openai.BadRequestError: errors.ProviderRejected,
    openai.AuthenticationError: errors.CredentialsRejected,
    openai.OAuthError: errors.CredentialsRejected,
    openai.PermissionDeniedError: errors.CredentialsRejected,
    openai.NotFoundError: errors.LanguageModelNotFound,
    openai.ConflictError: errors.ProviderUnavailable,
    openai.UnprocessableEntityError: errors.ProviderRejected,
    openai.RateLimitError: errors.RateLimited,
    openai.InternalServerError: errors.ProviderUnavailable,
    openai.APIStatusError: errors.ProviderRejected,
    openai.APIError: errors.ProviderUnavailable,
    openai.APIConnectionError: errors.ProviderUnavailable,
    openai.APITimeoutError: errors.ProviderTimedOut,
    openai.APIResponseValidationError: errors.MalformedStream,
    openai.LengthFinishReasonError: errors.MalformedStream,
    openai.ContentFilterFinishReasonError: errors.ProviderRejected,
    openai.InvalidWebhookSignatureError: errors.ProviderRejected,
    openai.WebSocketConnectionClosedError: errors.ProviderUnavailable,
    openai.WebSocketQueueFullError: errors.ProviderUnavailable,
    openai.OpenAIError: errors.ProviderRejected,
    SubjectTokenProviderError: errors.ProviderRejected,
}
STATUS = {"AuthenticationError": 401, "OAuthError": 401, "APIStatusError": 418, "InternalServerError": 500}
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


def defined_in(module):
    return {each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Exception)}


def make(exception):
    """Return an instance of *exception* as bare as it can be made: the mapping reads nothing else."""
    if issubclass(exception, openai.APIStatusError):
        status = STATUS.get(exception.__name__) or exception.status_code
        return exception(response=httpx2.Response(status, request=REQUEST), body=None, **message_for(exception))
    with_text = type(exception.__name__, (exception,), {"__str__": lambda self: "it failed"})
    instance = with_text.__new__(with_text)
    instance.message, instance.body = "it failed", None
    return instance


def message_for(exception):
    return {} if exception is openai.OAuthError else {"message": "it failed"}


def expected_for(exception):
    if exception in EXPECTED:
        return EXPECTED[exception]
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
    """Return the error of an answer with this JSON body, of which the package has read the message alone."""
    told = body.get("message") if isinstance(body, dict) else None
    message = f"Error code: {status} - {told}" if told and isinstance(told, str) else f"Error code: {status}"
    response = httpx2.Response(status, request=REQUEST)
    return to_completion_error(openai.APIStatusError(message, response=response, body=body))


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


def test_a_refusal_of_any_depth_is_read():
    nested = "the end"
    for _ in range(900):
        nested = {"detail": [nested]}
    assert type(refused(400, nested)) is errors.ProviderRejected


def test_every_exception_that_openai_publishes_has_its_place():
    assert defined_in(openai._exceptions) == EXPECTED.keys()


@pytest.mark.parametrize("exception", EXPECTED, ids=lambda exception: exception.__name__)
def test_an_exception_of_openai_gets_its_class(exception):
    assert type(to_completion_error(make(exception))) is EXPECTED[exception]


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
    timeout = openai.APITimeoutError(request=REQUEST)
    timeout.__cause__ = reset

    assert type(to_completion_error(timeout)) is errors.ProviderUnavailable


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
