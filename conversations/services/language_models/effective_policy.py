"""The window policy that holds for a conversation: its scenario's, within the limits of the model that replies."""

from __future__ import annotations

from dataclasses import replace

from conversations.core.window.calibration import bounded_reserve_tokens
from conversations.core.window.policies import SlidingWindow, SlidingWithSummary, WindowPolicy
from conversations.models import Conversation, Scenario
from conversations.models.scenario import POLICY_FIELDS, SHARES
from conversations.window_policies import make_policy

from .model_context import ModelContext, conversation_context, model_context
from .reply_reserve import largest_own_reserve_tokens


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
    reserve_tokens = bounded_reserve_tokens(policy.reply_reserve_tokens, context_window_tokens=limit_tokens)
    return replace(policy, reply_reserve_tokens=reserve_tokens)


def conversation_policy(conversation: Conversation, *, reply_reserve_tokens: int | None = None) -> WindowPolicy:
    """Return the policy of the conversation's windows: its scenario's, with a summary if the conversation asks for it.

    Only the sliding one: another policy may have no room for it, or nothing to summarise. *reply_reserve_tokens* stands
    for the scenario's, for one reply.
    """
    context = conversation_context(conversation)
    policy = effective_policy(conversation.scenario, context)
    if reply_reserve_tokens:
        most_tokens = largest_own_reserve_tokens(context)
        policy = replace(policy, reply_reserve_tokens=min(reply_reserve_tokens, most_tokens))
    if conversation.summarises and type(policy) is SlidingWindow:
        return SlidingWithSummary(**{name: getattr(policy, name) for name in POLICY_FIELDS})
    return policy


def reply_reserve_tokens(conversation: Conversation) -> int:
    """Return the reply reserve of the conversation's replies, but for those that have one of their own."""
    context = conversation_context(conversation)
    policy = effective_policy(conversation.scenario, context)
    return policy.reply_reserve_tokens or context.language_model.reply_reserve_tokens
