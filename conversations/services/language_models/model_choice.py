"""Which language model makes the replies of a conversation, and which ones its owner may choose from.

The conversation's own choice comes first, then its scenario's model, then the site's default. One that the settings do
not name any more, or that is not on offer to the owner, is passed over, and pages say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from chatsite.accounts.models import User
from chatsite.accounts.sign_up.domains import email_domain
from conversations.core.errors import EffortNotAccepted, LanguageModelNotOffered
from conversations.models import Conversation, Scenario
from conversations.providers.catalog.language_models import ConfiguredModel, default_language_model, language_models
from conversations.tools.toolbox import NO_TOOLS, Toolbox, program_toolbox, scenario_toolbox


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The *configured* model of a conversation. *passed_over* is the name of the one that was to be used, if it is not.

    *effort* is how hard it is asked to think, one of those that it accepts; empty is what it does unasked.
    """

    configured: ConfiguredModel
    effort: str = ""
    passed_over: str = ""


def choose_model(conversation: Conversation) -> ModelChoice:
    """Return the model that makes the conversation's next reply, or the one of the run that is in hand."""
    if conversation.model_of_run:
        name, effort = conversation.model_of_run
        if begun_with := language_models().get(name):
            return ModelChoice(begun_with, effort)
    scenario = conversation.scenario
    named = [name for name in (conversation.language_model, scenario.language_model) if name]
    for index, name in enumerate(named):
        if (configured := language_models().get(name)) and _is_offered_to_owner(configured, conversation):
            return ModelChoice(configured, _effort(conversation, configured), named[0] if index else "")
    configured = default_language_model()
    return ModelChoice(configured, _effort(conversation, configured), named[0] if named else "")


def reply_effort(conversation: Conversation) -> str:
    """Return the effort that the conversation's next request asks for, empty for none."""
    return choose_model(conversation).effort


def takes_tools(conversation: Conversation) -> bool:
    """Tell whether tools may be sent to the conversation's model. Of one of which it is not known they are."""
    return choose_model(conversation).configured.abilities.may_take_tools


def conversation_toolbox(conversation: Conversation, configured: ConfiguredModel | None = None) -> Toolbox:
    """Return the tools of the conversation's next reply; none where its model is known to take none.

    *configured* is that model, if the caller has chosen it.
    """
    configured = configured or choose_model(conversation).configured
    return reply_toolbox(conversation) if configured.abilities.may_take_tools else NO_TOOLS


def reply_toolbox(conversation: Conversation) -> Toolbox:
    """Return the functions of the program that asks for a reply; else the tools of the conversation's scenario."""
    if schemas := (conversation.parameters_of_run or {}).get("tools"):
        return program_toolbox(schemas)
    return scenario_toolbox(conversation.scenario)


def use_model_of_run(conversation: Conversation, language_model: str, effort: str) -> None:
    """Have *conversation*, as it is in hand and not as it is stored, use what a run was begun with.

    It holds to the end of the reply, also where the scenario or what is on offer to the owner changes meanwhile.
    """
    conversation.model_of_run = (language_model, effort) if language_model else None


def offered_models(user: User) -> list[ConfiguredModel]:
    """Return the models that *user* may choose, in the order of the settings: the default first."""
    return [configured for configured in language_models().values() if is_offered(configured, user)]


def is_offered(configured: ConfiguredModel, user: User | None) -> bool:
    """Tell whether *user* may use it. Without a user, as for a scenario of the site, each may be named."""
    if user is None or not configured.offered_for:
        return True
    return bool(configured.offered_for & {user.role, email_domain(user.email)})


def check_choice(user: User, *, language_model: str, effort: str, scenario: Scenario) -> None:
    """Raise `LanguageModelNotOffered` or `EffortNotAccepted` unless *user* may choose both; blank is the scenario's."""
    configured = find_offered_model(user, language_model) if language_model else None
    if configured is None:
        configured = choose_model(Conversation(owner=user, scenario=scenario)).configured
    if effort != configured.abilities.first_accepted(effort):
        raise EffortNotAccepted(language_model=configured.name)


def find_offered_model(user: User, name: str) -> ConfiguredModel:
    """Return the model *name*. Raises `LanguageModelNotOffered` for one that is not configured, or not for *user*."""
    configured = language_models().get(name)
    if configured is None or not is_offered(configured, user):
        raise LanguageModelNotOffered
    return configured


def _is_offered_to_owner(configured: ConfiguredModel, conversation: Conversation) -> bool:
    """The owner is read only where it matters."""
    return not configured.offered_for or is_offered(configured, conversation.owner)


def _effort(conversation: Conversation, configured: ConfiguredModel) -> str:
    return configured.abilities.first_accepted(conversation.effort, conversation.scenario.effort)
