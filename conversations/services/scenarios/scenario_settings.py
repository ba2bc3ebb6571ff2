"""Validate the settings of a scenario as a whole: one rule for users' pages, the admin and files.

The model validates single columns. Here they are seen together with the language models and window policies of this
site: settings in which no message would fit are refused when they are made, not when a user writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from chatsite.command_line import spell_command
from chatsite.names import isolate_name
from conversations.core.errors import PolicyFailed
from conversations.core.text.storable_text import UNSTORABLE
from conversations.core.window.budget import LanguageModel
from conversations.core.window.policies import WindowPolicy
from conversations.models import Scenario
from conversations.models.scenario import POLICY_FIELDS
from conversations.providers.catalog.language_models import language_models
from conversations.providers.tokens.tokenizer import count_tool_schemas
from conversations.services.language_models.effective_policy import scenario_policy
from conversations.services.language_models.model_choice import is_offered
from conversations.services.language_models.model_context import ModelContext, model_context
from conversations.services.language_models.sampling import check_it_is_for_people, check_sampling
from conversations.tools.toolbox import offered_keys, scenario_toolbox
from conversations.window_policies import policy_choices


def check_scenario(scenario: Scenario, *, any_policy: bool = False) -> None:
    """Raise a `ValidationError` with a sentence at the field to blame, unless a conversation can be had with it.

    Its columns hold what they may already. A language model, policy, tools or fields of sampling that this site does
    not offer stay where they are stored. *any_policy* allows any dotted path: that runs code, so only for those who
    can run some anyway.
    """
    stored = Scenario.objects.filter(pk=scenario.pk).first() or Scenario()
    _check_sampling(scenario, kept=stored.sampling)
    _check_text(scenario)
    _check_tools(scenario, kept=stored.tools)
    _check_language_model(scenario, kept=stored.language_model)
    _check_effort(scenario, kept=stored.effort)
    if not any_policy:
        _check_policy_name(scenario, kept=stored.policy_name)
    _check_room(scenario, _policy_of(scenario))


def _check_sampling(scenario: Scenario, *, kept: Mapping[str, Any]) -> None:
    try:
        check_sampling(scenario.sampling)
        if scenario.owner_id is not None:
            check_it_is_for_people(scenario.sampling, kept=kept)
    except ValidationError as error:
        raise ValidationError({"sampling": error}) from error


def _check_text(scenario: Scenario) -> None:
    for name in ("name", "system_prompt"):
        if UNSTORABLE.search(getattr(scenario, name)):
            raise _error(name, _("Text must not contain NUL characters or parts of characters."))


def _check_tools(scenario: Scenario, *, kept: list[Any]) -> None:
    if not all(isinstance(name, str) for name in scenario.tools):
        raise _error("tools", _("The name of a tool must be text."))
    offered = offered_keys(scenario.owner)
    if unknown := [name for name in scenario.tools if name not in offered and name not in kept]:
        words = _("This site does not offer the tool “%(name)s”. It offers: %(offered)s.")
        raise _error("tools", words, name=unknown[0][:100], offered=", ".join(sorted(offered)) or "–")
    scenario.tools = list(dict.fromkeys(scenario.tools))


def _check_language_model(scenario: Scenario, *, kept: str) -> None:
    offered_names = [each.name for each in language_models().values() if is_offered(each, scenario.owner)]
    if scenario.language_model not in {"", kept, *offered_names}:
        offered = ", ".join(offered_names)
        words = _("This site does not offer the language model “%(name)s”. It offers: %(offered)s.")
        raise _error("language_model", words, name=scenario.language_model, offered=offered)


def _check_effort(scenario: Scenario, *, kept: str) -> None:
    configured = model_context(scenario).configured
    efforts = configured.abilities.efforts
    if scenario.effort in ("", kept, *efforts):
        return
    if not efforts:
        raise _error("effort", _("%(model)s accepts no effort. Leave this empty."), model=configured.label)
    words = _("%(model)s accepts these efforts: %(efforts)s.")
    raise _error("effort", words, model=configured.label, efforts=", ".join(efforts))


def _check_policy_name(scenario: Scenario, *, kept: str) -> None:
    """Before the policy is loaded, for that runs its module."""
    if scenario.policy_name not in {kept, *policy_choices()}:
        offered = ", ".join(policy_choices())
        words = _("This site does not offer the window policy “%(name)s”. It offers: %(offered)s.")
        raise _error("policy_name", words, name=scenario.policy_name, offered=offered)


def _policy_of(scenario: Scenario) -> WindowPolicy:
    try:
        return scenario_policy(scenario)
    except PolicyFailed as error:
        words = _("This window policy can’t be loaded. An admin can see why with “%(command)s”.")
        raise _error("policy_name", words, command=spell_command("check")) from error
    except ValueError as error:  # a policy of the site's own may want more of its values than ours
        raise _error(_blamed(error), "%(reason)s", reason=error) from error


def _blamed(error: ValueError) -> str:
    """Return the field that a policy's words begin with."""
    named = str(error).partition(" ")[0]
    return named if named in POLICY_FIELDS else "policy_name"


def _check_room(scenario: Scenario, policy: WindowPolicy) -> None:
    """Refuse settings that leave no room for a message; one thing after the other, to know what is to blame."""
    context = model_context(scenario)
    _check_reply_reserve(policy, context.language_model)
    try:
        policy.check_it_holds_a_message(context.language_model)
    except ValueError as error:
        words = NO_ROOM.get(_blamed(error), "%(reason)s")
        raise _error(_blamed(error), words, reason=error, model=context.configured.label) from error
    fixed_tokens = 0
    if scenario.system_prompt:
        tokens = context.count_text(scenario.system_prompt)
        _check_message_cap(tokens, policy.message_cap_tokens)
        fixed_tokens += context.language_model.chat_format.overhead_tokens + tokens
        _check_fixed("system_prompt", tokens, policy, context, fixed_tokens=fixed_tokens)
    if scenario.tools:
        tokens = count_tool_schemas(scenario_toolbox(scenario).schemas, language_model=context.language_model)
        _check_fixed("tools", tokens, policy, context, fixed_tokens=fixed_tokens + tokens)


NO_ROOM = {
    "reply_reserve_tokens": _("This leaves %(model)s no room for even the shortest message."),
    "cap_tokens": _("Not even the shortest message fits in so few tokens."),
}


def _check_reply_reserve(policy: WindowPolicy, language_model: LanguageModel) -> None:
    window_tokens = language_model.context_window_tokens
    if (policy.reply_reserve_tokens or 0) >= window_tokens:
        words = _("The reply reserve must be below the language model’s context window of %(window)s tokens.")
        raise _error("reply_reserve_tokens", words, window=f"{window_tokens:,}")


def _check_message_cap(tokens: int, cap_tokens: int | None) -> None:
    """Refuse a system prompt that is longer than any message may be: it is one, and is sent with each of the others."""
    if cap_tokens is not None and tokens > cap_tokens:
        words = _(
            "The system prompt has %(tokens)s tokens, %(over)s more than “Longest message” allows. Shorten it, or "
            "allow longer messages."
        )
        figures = {"tokens": f"{tokens:,}", "over": f"{tokens - cap_tokens:,}"}
        raise _error("system_prompt", words, **figures)


TOO_LONG = {
    "system_prompt": _(
        "The system prompt has %(tokens)s tokens, %(over)s too many: with these settings a prompt for %(model)s "
        "may have %(limit)s, and a message must fit as well."
    ),
    "tools": _(
        "The tool descriptions have %(tokens)s tokens, %(over)s too many: with these settings a "
        "prompt for %(model)s may have %(limit)s, and a message must fit as well. Choose fewer "
        "tools."
    ),
}


def _check_fixed(field: str, tokens: int, policy: WindowPolicy, context: ModelContext, *, fixed_tokens: int) -> None:
    """Refuse the *field*, whose text has so many *tokens*, if no message fits beside all *fixed_tokens* so far."""
    chat_format, limit_tokens = context.language_model.chat_format, policy.budget_tokens(context.language_model)
    try:
        policy.check_it_holds_a_message(context.language_model, fixed_tokens=fixed_tokens)
    except ValueError as error:
        over = chat_format.priming_tokens + chat_format.overhead_tokens + fixed_tokens + 1 - limit_tokens
        figures = {"tokens": f"{tokens:,}", "over": f"{over:,}", "limit": f"{limit_tokens:,}"}
        raise _error(field, TOO_LONG[field], model=context.configured.label, **figures) from error


def _error(field: str, words: Any, **params: Any) -> ValidationError:
    isolated = {name: isolate_name(value) for name, value in params.items()}
    return ValidationError({field: ValidationError(words, params=isolated)})
