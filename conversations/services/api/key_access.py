"""What a key may use: language models on offer to its owner, and the owner's conversations, within its bounds."""

from __future__ import annotations

import uuid

from conversations.access import find_conversation
from conversations.core.errors import ConversationNotFound, LanguageModelNotOfKey, ScenarioNotFound
from conversations.models import ApiKey, Conversation, Scenario
from conversations.providers.catalog.language_models import ConfiguredModel
from conversations.selectors.conversations.scenarios import find_scenario
from conversations.services.language_models.model_choice import offered_models
from conversations.services.language_models.model_context import model_context


def scenario_of_key(key: ApiKey) -> Scenario | None:
    """Return the scenario that *key* is bound to, None where it is to none.

    Raises `ScenarioNotFound` once the owner may not choose it any more: the key is never less bound than it was.
    """
    if not key.is_bound:
        return None
    if key.scenario_id is None:
        raise ScenarioNotFound
    return find_scenario(key.owner, key.scenario_id)


def models_of_key(key: ApiKey) -> list[ConfiguredModel]:
    """Return the models that *key* may use, in the order of the settings. A bound key that names none has one."""
    scenario = scenario_of_key(key)
    offered = offered_models(key.owner)
    if key.language_models:
        return [configured for configured in offered if configured.name in key.language_models]
    if scenario:
        name = model_context(scenario).configured.name
        return [configured for configured in offered if configured.name == name]
    return offered


def find_model_of_key(key: ApiKey, name: str) -> ConfiguredModel:
    """Return the model *name*. Raises `LanguageModelNotOfKey` where *key* may not use it."""
    found = next((configured for configured in models_of_key(key) if configured.name == name), None)
    if found is None:
        raise LanguageModelNotOfKey
    return found


def find_conversation_of_key(key: ApiKey, public_id: uuid.UUID | None) -> Conversation:
    """Return a conversation of the key's owner. Raises `ConversationNotFound`, also beyond the scenario of a key."""
    if public_id is None:
        raise ConversationNotFound
    conversation = find_conversation(key.owner, public_id)
    if key.is_bound and conversation.scenario_id != key.scenario_id:
        raise ConversationNotFound
    conversation.is_of_bound_key = key.is_bound
    return conversation
