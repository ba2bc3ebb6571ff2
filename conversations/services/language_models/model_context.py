"""A language model as it holds now: its limits, the counting of its tokens, its calibration and its prices."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal

from conversations.core.money.unit_prices import UnitPrices
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.budget import CountText, LanguageModel, content_tokens
from conversations.core.window.calibration import bounded_reserve_tokens
from conversations.models import Conversation, Scenario
from conversations.providers.catalog.language_models import ConfiguredModel, default_language_model, language_models
from conversations.providers.tokens.tokenizer import count_text

from .calibration import find_calibration
from .model_choice import choose_model
from .prices import find_unit_prices


@dataclass(frozen=True, slots=True)
class ModelContext:
    """A language model, with the context window that its provider named, if that is the smaller one.

    *configured* is what the settings say of it; *calibration* divides budgets.
    """

    configured: ConfiguredModel
    language_model: LanguageModel
    count_text: CountText
    calibration: Decimal = Decimal(1)

    def unit_prices(self, *, at: dt.datetime) -> UnitPrices | None:
        return find_unit_prices(self.configured.name, at)

    def content_tokens(self, message: PromptMessage) -> int:
        """Count what *message* adds to the chat format's overhead: the number stored with its row."""
        return content_tokens(message, count_text=self.count_text, chat_format=self.language_model.chat_format)


def model_context(scenario: Scenario) -> ModelContext:
    """Return the context of the scenario's model; of the default model if that is blank or no longer configured."""
    return named_model_context(scenario.language_model)


def conversation_context(conversation: Conversation) -> ModelContext:
    """Return the context of the model that makes the conversation's next reply, as `choose_model` finds it."""
    return _context_of(choose_model(conversation).configured)


def named_model_context(name: str) -> ModelContext:
    """Return the context of the model *name*; of the default model if that is blank or no longer configured."""
    return _context_of(language_models().get(name) or default_language_model())


def _context_of(configured: ConfiguredModel) -> ModelContext:
    calibrated = find_calibration(configured.name)
    return ModelContext(
        configured,
        _within(configured.language_model, calibrated.window_to_try_tokens),
        count_text(configured.language_model.encoding),
        calibrated.ratio,
    )


def load_tokenizers() -> None:
    """Load the tokenizers of all configured language models: else the first message after a start waits for it."""
    for configured in language_models().values():
        count_text(configured.language_model.encoding)


def _within(language_model: LanguageModel, limit_tokens: int | None) -> LanguageModel:
    """Return the language model with the context window that its provider named, where that is the smaller one."""
    if limit_tokens is None or limit_tokens >= language_model.context_window_tokens:
        return language_model
    reserve_tokens = bounded_reserve_tokens(language_model.reply_reserve_tokens, context_window_tokens=limit_tokens)
    return replace(language_model, context_window_tokens=limit_tokens, reply_reserve_tokens=reserve_tokens)
