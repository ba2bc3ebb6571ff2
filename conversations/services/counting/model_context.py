"""The language model of a scenario with its limits, the counting of its tokens, its calibration and its prices."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal

from conversations.core.money.unit_prices import UnitPrices
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.budget import CountText, LanguageModel, content_tokens
from conversations.core.window.calibration import largest_reserve_tokens
from conversations.core.window.policies import SlidingWindow, SlidingWithSummary, WindowPolicy
from conversations.models import Conversation, Scenario
from conversations.models.scenario import POLICY_FIELDS, SHARES
from conversations.providers.catalog.language_models import ConfiguredModel, default_language_model, language_models
from conversations.providers.tokens.tokenizer import count_text
from conversations.window_policies import make_policy

from .calibration import find_calibration
from .model_choice import choose_model
from .prices import find_unit_prices


@dataclass(frozen=True, slots=True)
class ModelContext:
    """A language model as it holds now: with the context window that its provider named, if that is the smaller one.

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


def scenario_policy(scenario: Scenario) -> WindowPolicy:
    """Return the scenario's window policy as the pure core knows it. Raises `PolicyFailed` if it can't be loaded."""
    values = {name: getattr(scenario, name) for name in POLICY_FIELDS}
    shares = {name: float(values[name]) for name in SHARES}
    return make_policy(scenario.policy_name, values | shares)


def effective_policy(scenario: Scenario, context: ModelContext | None = None) -> WindowPolicy:
    """Return the scenario's window policy, its own reply reserve bounded where the model's window is smaller.

    That is so where the provider named a smaller one than the settings, and where another model, that of *context*, was
    chosen than the scenario's, for which the reserve was given.
    """
    policy, of_scenario = scenario_policy(scenario), model_context(scenario)
    context = context or of_scenario
    limit_tokens = context.language_model.context_window_tokens
    if not policy.reply_reserve_tokens or limit_tokens >= of_scenario.configured.language_model.context_window_tokens:
        return policy
    return replace(policy, reply_reserve_tokens=min(policy.reply_reserve_tokens, largest_reserve_tokens(limit_tokens)))


def conversation_policy(conversation: Conversation, *, reply_reserve_tokens: int | None = None) -> WindowPolicy:
    """Return the policy of the conversation's windows: its scenario's, with a summary if the conversation asks for it.

    Only the sliding one: another policy may have no room for it, or nothing to summarise. *reply_reserve_tokens* stands
    for the scenario's, for one reply.
    """
    context = conversation_context(conversation)
    policy = effective_policy(conversation.scenario, context)
    if reply_reserve_tokens:
        most_tokens = most_reserve_tokens(context)
        policy = replace(policy, reply_reserve_tokens=min(reply_reserve_tokens, most_tokens))
    if conversation.summarises and type(policy) is SlidingWindow:
        return SlidingWithSummary(**{name: getattr(policy, name) for name in POLICY_FIELDS})
    return policy


def reply_reserve_tokens(conversation: Conversation) -> int:
    """Return the room that a reply has."""
    context = conversation_context(conversation)
    policy = effective_policy(conversation.scenario, context)
    return policy.reply_reserve_tokens or context.language_model.reply_reserve_tokens


def larger_reserve_tokens(conversation: Conversation, reserve_tokens: int) -> int | None:
    """Return twice the room, or as much as the language model may give to one reply; None if that is no more."""
    larger_tokens = min(2 * reserve_tokens, most_reserve_tokens(conversation_context(conversation)))
    return larger_tokens if larger_tokens > reserve_tokens else None


def most_reserve_tokens(context: ModelContext) -> int:
    """Return the most room for a reply that asks for more than its scenario's: some has to be left for the prompt."""
    return context.language_model.context_window_tokens * 3 // 4


def _within(language_model: LanguageModel, limit_tokens: int | None) -> LanguageModel:
    """Return the language model with the context window that its provider named, where that is the smaller one."""
    if limit_tokens is None or limit_tokens >= language_model.context_window_tokens:
        return language_model
    reserve_tokens = min(language_model.reply_reserve_tokens, largest_reserve_tokens(limit_tokens))
    return replace(language_model, context_window_tokens=limit_tokens, reply_reserve_tokens=reserve_tokens)
