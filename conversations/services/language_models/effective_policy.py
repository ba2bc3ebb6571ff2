"""The window policy that holds for a conversation: its scenario's, within the limits of the model that replies."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

from conversations.core.window.calibration import bounded_reserve_tokens
from conversations.core.window.policies import BUILT_IN, SlidingWindow, SlidingWithSummary, WindowPolicy
from conversations.models import Conversation, Scenario
from conversations.models.scenario import POLICY_FIELDS, SHARES
from conversations.window_policies import make_policy

from .model_context import ModelContext, conversation_context, model_context
from .reply_reserve import largest_own_reserve_tokens

POLICIES_KEPT = 256  # scenarios of which each window takes one as it was made before


def scenario_policy(scenario: Scenario) -> WindowPolicy:
    """Return the scenario's window policy as the pure core knows it. Raises `PolicyFailed` if it can't be loaded."""
    make = _kept_policy if scenario.policy_name in BUILT_IN else _make_policy  # the site's own may keep a state
    return make(scenario.policy_name, _policy_values(scenario))


def _make_policy(name: str, of_scenario: tuple[Any, ...]) -> WindowPolicy:
    values = dict(zip(POLICY_FIELDS, of_scenario, strict=True))
    shares = {name: float(values[name]) for name in SHARES}
    return make_policy(name, values | shares)


_policy_values = attrgetter(*POLICY_FIELDS)
_kept_policy = lru_cache(maxsize=POLICIES_KEPT)(_make_policy)


def effective_policy(scenario: Scenario, context: ModelContext | None = None) -> WindowPolicy:
    """Return the scenario's window policy, its own reply reserve bounded where the model's window is smaller.

    That is so where the provider named a smaller one than the settings, and where another model, that of *context*, was
    chosen than the scenario's, for which the reserve was given.
    """
    policy = scenario_policy(scenario)
    if not policy.reply_reserve_tokens:
        return policy
    of_scenario = model_context(scenario)
    limit_tokens = (context or of_scenario).language_model.context_window_tokens
    if limit_tokens >= of_scenario.configured.language_model.context_window_tokens:
        return policy
    reserve_tokens = bounded_reserve_tokens(policy.reply_reserve_tokens, context_window_tokens=limit_tokens)
    return replace(policy, reply_reserve_tokens=reserve_tokens)


def conversation_policy(
    conversation: Conversation, context: ModelContext | None = None, *, reply_reserve_tokens: int | None = None
) -> WindowPolicy:
    """Return the policy of the conversation's windows: its scenario's, with a summary if the conversation asks for it.

    Only the sliding one: another policy may have no room for it, or nothing to summarise. *context* is the
    conversation's, if the caller has it. *reply_reserve_tokens* stands for the scenario's, for one reply.
    """
    context = context or conversation_context(conversation)
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
