"""What is wrong with the configuration, said before anything is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from conversations.providers.language_models import language_models


@register
def check_language_models(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with language models that nobody can count or limit."""
    try:
        language_models()
    except ValueError as error:
        hint = "LANGUAGE_MODELS=gpt-4o-mini, or with what is not known: LANGUAGE_MODELS=qwen3:8b context_window=40960"
        return [Error(str(error), hint=hint, id="conversations.E001")]
    return []


@register
def check_processes(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn where replies are made in other processes and their text has no way to this one's pages."""
    if settings.RUN_WORKER or settings.REDIS_URL:
        return []
    text = "RUN_WORKER is off and REDIS_URL is empty: replies arrive in jerks, because pages have to ask for them."
    return [checks.Warning(text, hint="Set REDIS_URL, or RUN_WORKER=on.", id="conversations.W001")]
