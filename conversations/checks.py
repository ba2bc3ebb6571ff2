"""System checks of settings: names, provider, models, embeddings, searches, webhook, policies, tools, processes."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection

from conversations.core.api.webhook_events import read_secret
from conversations.core.errors import PolicyFailed
from conversations.providers.catalog.embedding_models import (
    embedding_base_url,
    has_endpoint,
    parse_embedding_model,
    parse_local_model,
)
from conversations.providers.catalog.language_models import demo_is_used, language_models
from conversations.providers.egress.destinations import EgressRefused, has_credentials, named_destination
from conversations.window_policies import make_policy

FREE_CONNECTIONS = """
SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END) FROM pg_settings
WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')
"""


@register
def check_setting_names(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of settings under an old name, and of names in `.env` that look like one."""
    return [checks.Warning(text, id="conversations.W008") for text in settings.ENV.name_warnings()]


@register
def check_language_models(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with language models whose tokens or limits are not known."""
    try:
        language_models()
    except ValueError as error:
        hint = "LANGUAGE_MODELS=gpt-4o-mini, or with what is not known: LANGUAGE_MODELS=qwen3:8b context_window=40960"
        return [Error(str(error), hint=hint, id="conversations.E001")]
    return []


@register
def check_provider_address(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with credentials in the provider's address: each request would fail before it is sent."""
    if not has_credentials(settings.OPENAI_BASE_URL):
        return []
    hint = (
        "OPENAI_BASE_URL=https://models.example.org/v1, and the key in OPENAI_API_KEY: it is sent as a Bearer token. "
        "A server that wants a user name and a password instead can't be asked."
    )
    text = "OPENAI_BASE_URL has a user name or a password in it, and no request can be made with it."
    return [Error(text, hint=hint, id="conversations.E011")]


@register
def check_summary_model(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with a model for summaries that is not among the language models: another would be paid for."""
    try:
        names = list(language_models())
    except ValueError:
        return []  # which is said already
    if not settings.SUMMARY_MODEL or settings.SUMMARY_MODEL in names:
        return []
    text = f"SUMMARY_MODEL: {settings.SUMMARY_MODEL!r} is not one of LANGUAGE_MODELS."
    return [
        Error(text, hint=f"These are: {', '.join(names)}. Empty is the conversation's own.", id="conversations.E006")
    ]


@register
def check_title_model(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with a model for titles that is not among the language models: no title would be written."""
    try:
        names = list(language_models())
    except ValueError:
        return []  # which is said already
    if not settings.TITLE_MODEL or settings.TITLE_MODEL in names or demo_is_used():
        return []
    text = f"TITLE_MODEL: {settings.TITLE_MODEL!r} is not one of LANGUAGE_MODELS."
    hint = f"These are: {', '.join(names)}. Empty names conversations by their first words."
    return [Error(text, hint=hint, id="conversations.E007")]


@register
def check_embedding_model(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with an embeddings model that can't be read or asked; warn of one that is never asked."""
    if settings.LOCAL_EMBEDDINGS:
        return _check_local_model()
    if not settings.OPENAI_EMBEDDING_MODEL:
        return _check_lonely_endpoint()
    hint = "OPENAI_EMBEDDING_MODEL=text-embedding-3-small, or a name with words: nomic-embed-text context_window=2048"
    try:
        parse_embedding_model(settings.OPENAI_EMBEDDING_MODEL, base_url=embedding_base_url())
    except ValueError as error:
        return [Error(str(error), hint=hint, id="conversations.E003")]
    if not has_endpoint():
        text = "OPENAI_EMBEDDING_MODEL is set, but there is no provider: the demo model has no embeddings."
        return [checks.Warning(text, hint="Set OPENAI_EMBEDDING_BASE_URL, or a provider.", id="conversations.W002")]
    return _check_embedding_address()


def _check_local_model() -> list[CheckMessage]:
    """Look at the folder, without loading its weights."""
    hint = "LOCAL_EMBEDDINGS=/models/all-MiniLM-L6-v2, a folder with config.json, tokenizer.json and model.safetensors."
    try:
        parse_local_model(settings.LOCAL_EMBEDDINGS)
    except ValueError as error:
        return [Error(str(error), hint=hint, id="conversations.E008")]
    if importlib.util.find_spec("tokenizers") is None:
        text = "LOCAL_EMBEDDINGS is set, but the package tokenizers is not installed."
        return [Error(text, hint="pip install 'windowseat[local-embeddings]'", id="conversations.E008")]
    if settings.OPENAI_EMBEDDING_MODEL:
        text = "LOCAL_EMBEDDINGS and OPENAI_EMBEDDING_MODEL are both set: the endpoint is never asked."
        return [checks.Warning(text, hint="Empty one of them.", id="conversations.W006")]
    return []


def _check_lonely_endpoint() -> list[CheckMessage]:
    if not settings.OPENAI_EMBEDDING_BASE_URL and not settings.OPENAI_EMBEDDING_API_KEY:
        return []
    text = "There is an embeddings endpoint or key, but OPENAI_EMBEDDING_MODEL is empty, so it is never used."
    return [checks.Warning(text, hint="Set OPENAI_EMBEDDING_MODEL, or remove the other.", id="conversations.W003")]


def _check_embedding_address() -> list[CheckMessage]:
    try:
        named_destination(embedding_base_url())
    except EgressRefused as error:
        hint = "OPENAI_EMBEDDING_BASE_URL=https://api.example.org/v1, or http://localhost:11434/v1 on this machine."
        return [Error(f"The embeddings endpoint: {error}", hint=hint, id="conversations.E004")]
    if settings.OPENAI_EMBEDDING_API_KEY and not settings.OPENAI_EMBEDDING_BASE_URL:
        text = "OPENAI_EMBEDDING_API_KEY goes to the provider of replies: OPENAI_EMBEDDING_BASE_URL is empty."
        return [checks.Warning(text, hint="Set OPENAI_EMBEDDING_BASE_URL, or remove the key.", id="conversations.W004")]
    return []


@register
def check_web_search(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with an address of a web search that can never be asked."""
    if not settings.WEB_SEARCH_URL:
        return []
    try:
        named_destination(settings.WEB_SEARCH_URL)
    except EgressRefused as error:
        hint = "WEB_SEARCH_URL=https://search.example.org, or http://localhost:8888 on this machine."
        return [Error(f"WEB_SEARCH_URL: {error}", hint=hint, id="conversations.E009")]
    return []


@register
def check_webhook(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with an address of a webhook that can never be sent to, or with nothing to sign by."""
    if not settings.WEBHOOK_URL:
        return []
    try:
        named_destination(settings.WEBHOOK_URL)
    except EgressRefused as error:
        hint = "WEBHOOK_URL=https://hooks.example.org/windowseat"
        return [Error(f"WEBHOOK_URL: {error}", hint=hint, id="conversations.E010")]
    try:
        read_secret(settings.WEBHOOK_SECRET)
    except ValueError as error:
        hint = "python -c \"import base64, os; print('whsec_' + base64.b64encode(os.urandom(32)).decode())\""
        return [Error(f"WEBHOOK_SECRET: {error}.", hint=hint, id="conversations.E010")]
    return []


@register(Tags.database)
def check_search_language(*, databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with a search language that the database does not know: no document could be read."""
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT cfgname FROM pg_ts_config ORDER BY cfgname")
            known = [name for (name,) in cursor.fetchall()]
    except DatabaseError:
        return []  # it can't be reached, and the checks of the database say why
    if settings.SEARCH_LANGUAGE in known:
        return []
    text = f"SEARCH_LANGUAGE: the database has no text search configuration {settings.SEARCH_LANGUAGE!r}."
    return [Error(text, hint=f"It has these: {', '.join(known)}.", id="conversations.E005")]


@register
def check_window_policies(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with window policies of the site's own that no scenario could use."""
    hint = "WINDOW_POLICIES: dotted paths of subclasses of conversations.core.window.policies.WindowPolicy, by commas."
    errors: list[CheckMessage] = []
    for path in settings.WINDOW_POLICIES:
        try:
            make_policy(path, {})
        except (PolicyFailed, ValueError) as error:
            detail = error.detail if isinstance(error, PolicyFailed) else f"{path}: {error}"
            errors.append(Error(f"WINDOW_POLICIES: {detail}.", hint=hint, id="conversations.E002"))
    return errors


@register
def check_tools(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of functions that can't be tools: the site does without them. It is known of the built-in ones."""
    if not settings.TOOL_MODULES:
        return []
    from conversations.tools.registry import registry  # which a site without tools does without

    hint = "TOOL_MODULES holds dotted paths of modules whose functions have the decorator @tool, by commas."
    return [checks.Warning(f"Tools: {problem}.", hint=hint, id="conversations.W005") for problem in registry().problems]


@register(Tags.database)
def check_connections(*, databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn where several processes of `serve` may together want more connections than the database takes."""
    if DEFAULT_DB_ALIAS not in (databases or ()) or settings.PROCESSES == 1:
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute(FREE_CONNECTIONS)
            [(free,)] = cursor.fetchall()
    except DatabaseError:
        return []  # it can't be reached, and the checks of the database say why
    processes = settings.PROCESSES + settings.RUN_WORKER
    wanted = processes * (settings.DATABASE_POOL_SIZE + 1)  # a pool, and the health probe's own
    if wanted <= free:
        return []
    text = f"{processes} processes want up to {wanted} connections, and the database takes {free}."
    return [checks.Warning(text, hint="Lower PROCESSES or DATABASE_POOL_SIZE.", id="conversations.W007")]


@register
def check_processes(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn where replies are made in other processes and their text has no way to this one's pages."""
    if settings.RUN_WORKER or settings.REDIS_URL:
        return []
    text = "RUN_WORKER is off and REDIS_URL is empty: replies arrive in jerks, because pages have to ask for them."
    return [checks.Warning(text, hint="Set REDIS_URL, or RUN_WORKER=on.", id="conversations.W001")]
