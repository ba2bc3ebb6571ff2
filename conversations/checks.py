"""What is wrong with the configuration, said before anything is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from conversations.core.errors import PolicyFailed
from conversations.providers.language_models import language_models
from conversations.window_policies import make_policy


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
def check_window_policies(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with window policies of the site's own that no scenario could use."""
    hint = "WINDOW_POLICIES holds dotted paths of subclasses of conversations.core.policy.WindowPolicy, by commas."
    errors: list[CheckMessage] = []
    for path in settings.WINDOW_POLICIES:
        try:
            make_policy(path, {})
        except (PolicyFailed, ValueError) as error:
            detail = error.detail if isinstance(error, PolicyFailed) else f"{path}: {error}"
            errors.append(Error(f"WINDOW_POLICIES: {detail}.", hint=hint, id="conversations.E002"))
    return errors


@register
def check_processes(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn where replies are made in other processes and their text has no way to this one's pages."""
    if settings.RUN_WORKER or settings.REDIS_URL:
        return []
    text = "RUN_WORKER is off and REDIS_URL is empty: replies arrive in jerks, because pages have to ask for them."
    return [checks.Warning(text, hint="Set REDIS_URL, or RUN_WORKER=on.", id="conversations.W001")]
