"""The language model of a scenario, and counting in its tokens."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal

from conversations.core.money.usage import UnitPrices
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.budget import CountText, LanguageModel, content_tokens
from conversations.core.window.policy import WindowPolicy
from conversations.models import Scenario
from conversations.providers.catalog.language_models import ConfiguredModel, default_language_model, language_models
from conversations.providers.tokens.tokenizer import count_text

from .calibration import calibration_of
from .prices import unit_prices_of


@dataclass(frozen=True, slots=True)
class Language:
    """A language model together with the counting of its tokens."""

    configured: ConfiguredModel
    language_model: LanguageModel
    count_text: CountText
    calibration: Decimal = Decimal(1)

    def unit_prices(self, *, at: dt.datetime) -> UnitPrices | None:
        return unit_prices_of(self.configured.name, at)

    def content_tokens(self, message: PromptMessage) -> int:
        """Count what *message* adds to the chat format's overhead: the number stored with its row."""
        return content_tokens(message, count_text=self.count_text, chat_format=self.language_model.chat_format)


def language_of(scenario: Scenario) -> Language:
    """Return the scenario's language; the configuration's default if its model is blank or no longer configured."""
    configured = language_models().get(scenario.language_model) or default_language_model()
    calibrated = calibration_of(configured.name)
    return Language(
        configured,
        _within(configured.language_model, calibrated.limit_tokens),
        count_text(configured.language_model.encoding),
        calibrated.ratio,
    )


def load_languages() -> None:
    """Load what counting takes, for all language models on offer: else the first message after a start waits for it."""
    for configured in language_models().values():
        count_text(configured.language_model.encoding)


def policy_of(scenario: Scenario) -> WindowPolicy:
    """Return the scenario's window policy, its own reply reserve bounded where the provider named a smaller window."""
    policy, language = scenario.policy, language_of(scenario)
    limit_tokens = language.language_model.context_window_tokens
    if not policy.reply_reserve_tokens or limit_tokens == language.configured.language_model.context_window_tokens:
        return policy
    return replace(policy, reply_reserve_tokens=min(policy.reply_reserve_tokens, _largest_reserve(limit_tokens)))


def _within(language_model: LanguageModel, limit_tokens: int | None) -> LanguageModel:
    """Return the language model with the context window that its provider named, where that is the smaller one."""
    if limit_tokens is None or limit_tokens >= language_model.context_window_tokens:
        return language_model
    reserve_tokens = min(language_model.reply_reserve_tokens, _largest_reserve(limit_tokens))
    return replace(language_model, context_window_tokens=limit_tokens, reply_reserve_tokens=reserve_tokens)


def _largest_reserve(limit_tokens: int) -> int:
    """Return the most that a reply may take of a context window that is smaller than the site was set up for."""
    return max(1, limit_tokens // 4)
