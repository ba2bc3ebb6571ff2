"""Errors of the API at `/v1`: of keys, and of parameters that can't be taken."""

from __future__ import annotations

from .access import AccessError, LanguageModelNotOffered, LimitReached, MoneyReserved, RateReached, ReplyTooExpensive
from .inputs import InputError


class ParameterInvalid(InputError):
    """A parameter of a request has a value that can't be taken, or is not supported at all; *parameter* names it."""

    code = "parameter_invalid"
    template = "The parameter %(parameter)s can’t be taken: %(reason)s."

    def __init__(self, parameter: str, reason: str) -> None:
        self.parameter = parameter
        super().__init__(parameter=parameter, reason=reason)


class IdempotencyKeyReused(InputError):
    """The same key came before with a request that asks for something else."""

    code = "idempotency_key_reused"
    template = "This Idempotency-Key was sent before with another request. Use a new key for each request."


class AnswerNotKept(InputError):
    """The request with that key was answered, and the answer is gone: it is not asked for, and billed, again."""

    code = "answer_not_kept"
    template = "The request with this Idempotency-Key was answered, and the answer is kept no longer. Use a new key."


class TooManyApiKeys(InputError):
    code = "too_many_api_keys"
    template = "You have %(most)s API keys, which is the limit. Revoke one first."


class ApiKeyInvalid(AccessError):
    """Never made, over, revoked, or of an account that is not active: the same answer for all."""

    code = "invalid_api_key"
    template = "This API key opens nothing. Make a key on your account page."


class ApiKeyMissing(ApiKeyInvalid):
    """No key came with the request, or not where it is looked for: which says nothing of the keys that there are."""

    code = "api_key_missing"
    template = "No API key came with the request. Send it in the header “Authorization”, as “Bearer” and the key."


class ApiKeyNotFound(AccessError):
    code = "api_key_not_found"
    template = "There is no such API key, or it is not yours."


class ApiScopeMissing(AccessError):
    code = "scope_missing"
    template = "This API key lacks the scope “%(scope)s”, which this needs. Make one that has it on your account page."


class LanguageModelNotOfKey(LanguageModelNotOffered):
    """There is none of that name, it is not on offer to the owner, or the key may not use it."""

    code = "language_model_not_of_key"
    template = "This API key may use no language model of that name. GET /v1/models lists those that it may use."


class ApiOff(AccessError):
    code = "api_off"
    template = "The API is switched off on this site."


class WindowNotFound(AccessError):
    code = "window_not_found"
    template = "There is no such window record, or it is not yours."


class ResponseNotFound(AccessError):
    code = "response_not_found"
    template = "There is no such response, or it is not yours."


class ItemNotFound(AccessError):
    code = "item_not_found"
    template = "There is no such item in this conversation."


class AppendedTextFull(InputError):
    code = "appended_text_full"
    template = (
        "Your programs have stored %(megabytes)s MB of messages in conversations without asking for a reply, which is "
        "the limit. Delete some of these conversations first."
    )


class ApiKeyRateReached(RateReached):
    code = "key_rate_reached"
    singular = "This API key has asked as often as it may in a minute. It can ask again in %(seconds)s second."
    template = "This API key has asked as often as it may in a minute. It can ask again in %(seconds)s seconds."


class ApiKeyMoneyUsedUp(LimitReached):
    """What is left of the key's own money does not cover what the request may cost at most."""

    code = "key_money_used_up"
    template = "What is left of this API key’s own limit does not cover this request. It resets at %(opens_at)s."


class ApiKeyMoneyReserved(MoneyReserved):
    """Nothing but the worst case of the key's running requests stands in the way."""

    code = "key_money_reserved"
    template = "The rest of this API key’s own limit is reserved for its requests in progress. Try again in a moment."


class ApiKeyRequestTooExpensive(ReplyTooExpensive):
    code = "key_request_too_expensive"
    template = (
        "This request may cost more than this API key’s own limit for a whole day or month. Allow fewer output tokens, "
        "send less, or choose a cheaper model."
    )
