"""The provider of replies: address, certificate, key and models; with leave, a few tokens of the default model."""

from __future__ import annotations

import asyncio
import datetime as dt
import difflib
from collections.abc import Collection, Iterator
from contextlib import aclosing
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.utils import timezone

from chatsite.checkup import Line
from conversations.core.errors import CompletionError, ContextTooLong, CredentialsRejected, QuotaExhausted
from conversations.core.prompt.messages import PromptMessage
from conversations.providers.catalog.language_models import ConfiguredModel, demo_is_used, language_models
from conversations.providers.clients.client_pool import close_clients, completion_client
from conversations.providers.clients.model_list import Fault, ModelList, list_models
from conversations.providers.openai_api.completion_request import OPENAI_BASE_URL, CompletionRequest

from .options import Options

SUBJECT = "provider"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
COMPLETION_SECONDS = 60
COMPLETION_TOKENS = 300  # a model that thinks needs some before its first word
EXPIRED = (
    "Its operator has to renew it; until then no reply is made by it. If it has not expired, the clock of this machine "
    "is wrong: set it."
)
FAULTS: dict[Fault, tuple[str, str]] = {
    "address": ("is no address", "Write OPENAI_BASE_URL as https://api.example.org/v1."),
    "credentials": (
        "is written with a user name or a password, and no request can be made so",
        "Take them out of OPENAI_BASE_URL, and write the key into OPENAI_API_KEY.",
    ),
    "name": ("has a host name that can't be found", "Correct the host in OPENAI_BASE_URL, or see whether DNS works."),
    "certificate": (
        "has a certificate that is not trusted",
        "Name the host as in its certificate. If an authority of your own made it, name its file in SSL_CERT_FILE: in "
        "the environment, as .env is read too late for it.",
    ),
    "tls": ("does not speak TLS there", "Is it http://, or another port? Correct OPENAI_BASE_URL."),
    "refused": (
        "takes no connection",
        "See that it runs and which port it has. In a container localhost is the container itself.",
    ),
    "silent": ("does not answer", "See that it runs, and that a firewall or HTTPS_PROXY lets the site reach it."),
    "broken": ("breaks off", "See its own log."),
}


def check_provider(options: Options) -> Iterator[Line]:
    if demo_is_used():
        text = "No provider is set: the demo model answers, which only quotes."
        yield Line("look", SUBJECT, text, "Set OPENAI_API_KEY or OPENAI_BASE_URL, and LANGUAGE_MODELS.")
        return
    base_url = settings.OPENAI_BASE_URL or OPENAI_BASE_URL
    yield from judge_models(base_url, settings.OPENAI_API_KEY, list_models(base_url, settings.OPENAI_API_KEY))
    try:
        models = language_models()
    except ValueError:
        return  # which the check of settings tells
    yield from _check_prices(list(models.values()))
    if options.completes:
        yield asyncio.run(_try_completion(next(iter(models.values()))))


def provider_time() -> dt.datetime | None:
    """Return what the provider's clock says, to the second; None where it does not say."""
    if demo_is_used():
        return None
    return list_models(settings.OPENAI_BASE_URL or OPENAI_BASE_URL, settings.OPENAI_API_KEY).date


def judge_models(base_url: str, api_key: str, answer: ModelList) -> Iterator[Line]:
    """Yield what the answer to a request for its models says of the provider."""
    parts = urlsplit(base_url)
    if parts.scheme == "http" and api_key and parts.hostname not in LOCAL_HOSTS:
        text = f"The key and all prompts go to {_short(base_url)} unencrypted."
        yield Line("look", SUBJECT, text, "Take https:// if it is not in a network of your own.")
    if answer.fault:
        said, advice = FAULTS[answer.fault]
        if answer.fault == "certificate" and "expired" in (answer.detail or ""):
            advice = EXPIRED
        yield Line(
            "bad", SUBJECT, f"{_short(base_url)} {said}{f' ({answer.detail})' if answer.detail else ''}.", advice
        )
    elif answer.names is not None:
        yield Line("ok", SUBJECT, f"{_short(base_url)} takes the key and lists {_count_models(answer.names)}.")
        yield from _check_names(answer.names)
    else:
        yield _judge_refusal(base_url, api_key, answer)


def _count_models(names: Collection[str]) -> str:
    return "1 model" if len(names) == 1 else f"{len(names)} models"


def _judge_refusal(base_url: str, api_key: str, answer: ModelList) -> Line:
    where = _short(base_url)
    if answer.status in (401, 403):
        if not api_key:
            return Line("bad", SUBJECT, f"{where} asks for a key.", "Set OPENAI_API_KEY.")
        text = f"{where} refuses the key ({answer.status})."
        return Line(
            "bad", SUBJECT, text, "Make a new one there and set OPENAI_API_KEY; keys of other providers don't fit."
        )
    if better := _better_address(base_url, api_key):
        text = f"{where} has no models, and {_short(better)} has."
        return Line("bad", SUBJECT, text, f"Set OPENAI_BASE_URL={_short(better)}")
    if answer.location:
        text = f"{where} sends on to {_short(answer.location)}, where the site does not follow."
        return Line("bad", SUBJECT, text, "Set OPENAI_BASE_URL to the address that it sends on to, without /models.")
    if answer.status == 429:
        text = f"{where} takes no more requests for now: a limit, or the money of the account, is used up."
        return Line("look", SUBJECT, text, "See limits and billing of your account there.")
    if answer.status in (404, 405):
        text = f"{where} lists no models, as few servers do; so the address may be wrong."
        return Line("look", SUBJECT, text, "Does the address end in /v1, as most do? Try a request: --completion")
    if answer.status == 200:
        text = f"{where} answers with something else than OpenAI's API, such as a page."
        return Line("bad", SUBJECT, text, "Correct OPENAI_BASE_URL; most end in /v1.")
    text = f"{where} answers with {answer.status}: {answer.detail}"
    return Line("bad", SUBJECT, text, "It has a fault of its own, or its address is another one.")


def _better_address(base_url: str, api_key: str) -> str:
    """Return an address beside *base_url* that lists models: with /v1, or without the rest of a longer path."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    bare = path.removesuffix("/models").removesuffix("/completions").removesuffix("/chat").removesuffix("/responses")
    for other in dict.fromkeys((bare, f"{bare}/v1")):
        if other and other != path:
            address = urlunsplit((parts.scheme, parts.netloc, other, parts.query, ""))
            if list_models(address, api_key).names is not None:
                return address
    return ""


def _check_names(listed: tuple[str, ...]) -> Iterator[Line]:
    """Yield models on offer that the provider does not list, with the name that is nearest."""
    try:
        offered = list(language_models())
    except ValueError:
        return
    for name in offered:
        if listed and name not in listed and f"{name}:latest" not in listed:
            nearest = difflib.get_close_matches(name, listed, n=1)
            advice = f"Is {nearest[0]} meant? Correct LANGUAGE_MODELS." if nearest else "Correct LANGUAGE_MODELS."
            yield Line("look", SUBJECT, f"The model {name} is not in the provider's list.", advice)


def _check_prices(models: list[ConfiguredModel]) -> Iterator[Line]:
    now = timezone.now()
    unknown = [model.name for model in models if model.unit_prices(now) is None]
    if unknown:
        text = (
            f"The price of {', '.join(unknown)} is not known: what it costs is not counted, and budgets don't bound it."
        )
        yield Line(
            "look", SUBJECT, text, "Write input_usd= and output_usd= after its name in LANGUAGE_MODELS; 0 for your own."
        )
    windows = [f"{model.name} {model.language_model.context_window_tokens:,}" for model in models]
    yield Line("ok", SUBJECT, f"Context windows in tokens: {', '.join(windows)}.")


async def _try_completion(model: ConfiguredModel) -> Line:
    """Ask for one word. The ledger has no row of it: no user asked."""
    request = CompletionRequest(
        language_model=model.name,
        prompt=(PromptMessage("user", "Answer with the word ok."),),
        max_output_tokens=COMPLETION_TOKENS,
        dialect=model.dialect,
    )
    pieces = 0
    try:
        async with asyncio.timeout(COMPLETION_SECONDS), aclosing(completion_client().stream(request)) as events:
            async for _ in events:
                pieces += 1
    except TimeoutError:
        return Line("bad", SUBJECT, f"{model.name} did not answer within {COMPLETION_SECONDS} seconds.")
    except CompletionError as error:
        text = f"{model.name} gave no reply ({error.code}): {error.detail}"
        return Line("bad", SUBJECT, text, _advice_for(error))
    finally:
        await close_clients()
    return Line("ok", SUBJECT, f"{model.name} replies. This request is billed by the provider, and not in the ledger.")


def _advice_for(error: CompletionError) -> str:
    match error:
        case CredentialsRejected():
            return "Set OPENAI_API_KEY to a key that may use this model."
        case QuotaExhausted():
            return "The account there has no money left."
        case ContextTooLong():
            return "Its context window is smaller than LANGUAGE_MODELS says."
    return "See what it says; docs/providers.md has what servers understand."


def _short(url: str) -> str:
    """Return the address without user, password and query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
