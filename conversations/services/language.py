"""The language model of a scenario, and counting in its tokens."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from conversations.core.budget import CountText, LanguageModel, content_tokens
from conversations.core.messages import PromptMessage
from conversations.core.usage import UnitPrices
from conversations.models import Scenario
from conversations.providers.language_models import ConfiguredModel, default_language_model, language_models
from conversations.providers.tokenizer import count_text


@dataclass(frozen=True, slots=True)
class Language:
    """A language model together with the counting of its tokens."""

    configured: ConfiguredModel
    count_text: CountText

    @property
    def language_model(self) -> LanguageModel:
        return self.configured.language_model

    def unit_prices(self, *, at: dt.datetime) -> UnitPrices | None:
        return self.configured.unit_prices(at)

    def content_tokens(self, message: PromptMessage) -> int:
        """Count what *message* adds to the chat format's overhead: the number stored with its row."""
        return content_tokens(message, count_text=self.count_text, chat_format=self.language_model.chat_format)


def language_of(scenario: Scenario) -> Language:
    """Return the scenario's language; the configuration's default if its model is blank or no longer configured."""
    configured = language_models().get(scenario.language_model) or default_language_model()
    return Language(configured, count_text(configured.language_model.encoding))
