"""Choose the language model of a conversation and its effort, from the next reply on."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from chatsite.accounts.models import User
from conversations.core.frames.definitions import ModelChosen
from conversations.live.fanout import COUNTS, publish, publish_frame
from conversations.models import Conversation
from conversations.services.language_models.model_choice import check_choice, choose_model


def choose_language_model(conversation: Conversation, *, user: User, language_model: str, effort: str) -> None:
    """Go on with *language_model* at *effort*, both blank for the scenario's, and tell all open pages.

    Raises `LanguageModelNotOffered` or `EffortNotAccepted`, and changes nothing. A reply that is being made ends with
    the model that it began with. What another encoding demands is counted beside the requests of users.
    """
    check_choice(user, language_model=language_model, effort=effort, scenario=conversation.scenario)
    encoding = _encoding(conversation)
    conversation.language_model, conversation.effort = language_model, effort
    Conversation.objects.filter(pk=conversation.pk).update(language_model=language_model, effort=effort)
    if _encoding(conversation) != encoding:
        transaction.on_commit(partial(publish, COUNTS, str(conversation.pk)))
    chosen = ModelChosen(conversation.public_id, language_model, effort)
    transaction.on_commit(partial(publish_frame, chosen, conversation.public_id))


def _encoding(conversation: Conversation) -> str:
    return choose_model(conversation).configured.language_model.encoding
