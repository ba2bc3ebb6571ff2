"""A language model as it holds now: its limits, the counting of its tokens, its calibration and its prices."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from chatsite.postgres.pool import release_connection
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.budget import CountText, LanguageModel, content_tokens
from conversations.core.window.calibration import bounded_reserve_tokens
from conversations.models import Conversation, Scenario
from conversations.providers.catalog.language_models import ConfiguredModel, default_language_model, language_models
from conversations.providers.tokens.tokenizer import count_text, is_remembered

from .calibration import Calibrated, find_calibration
from .model_choice import choose_model
from .prices import find_unit_prices

FAR_ABOVE = 2  # context windows; counting of what is never sent stops there
PART_CHARACTERS = 20_000
LONG_CHARACTERS = 20_000  # of what is counted without a connection to the database; fewer take a few milliseconds


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

    def draft_tokens(self, message: PromptMessage) -> int:
        """Count what may never be sent no further than is needed to know that: it may be megabytes.

        Counting in parts may differ by a token for each, so what may be sent is counted as a whole.
        """
        content, most_tokens = message.content, FAR_ABOVE * self.language_model.context_window_tokens
        if len(content) > max(most_tokens, PART_CHARACTERS):
            tokens = 0
            for end in range(PART_CHARACTERS, len(content), PART_CHARACTERS):
                tokens += self.count_text(content[end - PART_CHARACTERS : end])
                if tokens > most_tokens:
                    return tokens * len(content) // end
        return self.content_tokens(message)

    def count_ahead(self, stored: Iterable[PromptMessage] = (), *, drafts: Iterable[PromptMessage] = ()) -> None:
        """Count long messages without a connection to the database, before a transaction that stores them.

        There their counts are remembered (`tokenizer.count_text`): counting megabytes takes seconds, in which others
        need the connection and the locks. *drafts* are the newest messages, which may be refused as too long.
        """
        counts = [(self.content_tokens, message) for message in stored if _is_long(message)]
        counts += [(self.draft_tokens, message) for message in drafts if _is_long(message)]
        if counts:
            release_connection()
        for count, message in counts:
            count(message)


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
    """Return its context: the same one until what is known of it is read again, as every window asks."""
    calibrated = find_calibration(configured.name)
    kept = _kept_contexts.get(configured.name)
    if kept is None or kept.configured is not configured or kept.calibrated is not calibrated:
        kept = _kept_contexts[configured.name] = _KeptContext(
            configured,
            calibrated,
            ModelContext(
                configured,
                _within(configured.language_model, calibrated.window_to_try_tokens),
                count_text(configured.language_model.encoding),
                calibrated.ratio,
            ),
        )
    return kept.context


class _KeptContext(NamedTuple):
    """The context of a model by its name, and what it was made of."""

    configured: ConfiguredModel
    calibrated: Calibrated
    context: ModelContext


_kept_contexts: dict[str, _KeptContext] = {}  # as many as language models are configured


def _is_long(message: PromptMessage) -> bool:
    return is_remembered(message.content) or any(is_remembered(call.arguments) for call in message.tool_calls)


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
