"""Start and rename a conversation, choose its scenario, and switch its web search."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.names import clean_name
from conversations.core.errors import ConversationNotFound, ScenarioNotFound, WebSearchNotOffered
from conversations.core.frames.definitions import ConversationRenamed, ModelChosen
from conversations.live.fanout import person_topic, publish, publish_frame
from conversations.models import Conversation, Folder
from conversations.models.scenario import WebSearch
from conversations.selectors.conversations.scenarios import find_scenario
from conversations.selectors.conversations.web_search import web_search_choice
from conversations.services.language_models.model_choice import check_choice

from .default_scenario import scenario_to_begin_with

KEPT_TEMPORARILY = dt.timedelta(days=1)


def start_conversation(
    *,
    user: User,
    public_id: uuid.UUID,
    scenario_id: int | None = None,
    language_model: str = "",
    effort: str = "",
    searches_web: bool = False,
    temporary: bool = False,
    folder_id: int | None = None,
) -> Conversation:
    """Return the user's conversation *public_id*, begun with the scenario, the model and a web search if it is new.

    A *temporary* one is deleted a day after it was begun. Until its first message it is put into the folder, if that is
    one of the user's.

    The page chooses the id before anything is sent, so that sending again after a lost answer begins nothing twice.
    Raises `ConversationNotFound` if the id is someone else's, `ScenarioNotFound` if the user may not choose that one,
    `LanguageModelNotOffered` or `EffortNotAccepted` likewise.
    """
    existing = Conversation.objects.select_related("scenario").filter(public_id=public_id).first()
    chosen: dict[str, Any] = {"language_model": language_model, "effort": effort, "searches_web": searches_web}
    if temporary:
        chosen["temporary_until"] = timezone.now() + KEPT_TEMPORARILY
    conversation = existing or _begin(user, public_id, scenario_id, chosen)
    if conversation.owner_id != user.pk or conversation.deleted_at or _is_over(conversation):
        raise ConversationNotFound
    if folder_id is not None and conversation.head_id is None and not conversation.is_temporary:
        conversation.folder = Folder.objects.filter(owner=user, pk=folder_id).first()
        conversation.save(update_fields=["folder"])
    return conversation


def conversation_to_post_to(
    *, user: User, public_id: uuid.UUID, scenario_id: int | None = None, language_model: str = "", **_chosen: object
) -> Conversation:
    """Return what `start_conversation` would, where a new one is not stored: to know its language model before."""
    found = Conversation.objects.select_related("scenario").filter(owner=user, public_id=public_id).first()
    return found or Conversation(
        owner=user, scenario=scenario_to_begin_with(user, scenario_id), language_model=language_model
    )


def _begin(user: User, public_id: uuid.UUID, scenario_id: int | None, chosen: Mapping[str, Any]) -> Conversation:
    """Store a new conversation; of two that begin the same at once, one stores it and both get it."""
    scenario = scenario_to_begin_with(user, scenario_id)
    check_choice(user, language_model=chosen["language_model"], effort=chosen["effort"], scenario=scenario)
    with _scenario_is_there():
        conversation, _ = Conversation.objects.get_or_create(
            public_id=public_id,
            defaults={"owner": user, "scenario": scenario, "last_active_at": timezone.now(), **chosen},
        )
    return conversation


def _is_over(conversation: Conversation) -> bool:
    """Tell whether it was temporary until a moment that has passed."""
    return conversation.temporary_until is not None and conversation.temporary_until <= timezone.now()


def choose_scenario(conversation: Conversation, *, user: User, scenario_id: int) -> None:
    """Go on with another scenario from the next reply on, and tell all open pages. Raises `ScenarioNotFound`."""
    if scenario_id != conversation.scenario_id:  # which may be kept though it is no longer offered
        scenario = find_scenario(user, scenario_id)
        with _scenario_is_there():
            Conversation.objects.filter(pk=conversation.pk).update(scenario=scenario)
        chosen = ModelChosen(conversation.public_id, conversation.language_model, conversation.effort)
        transaction.on_commit(partial(publish_frame, chosen, conversation.public_id))


def switch_web_search(conversation: Conversation, *, searches_web: bool) -> None:
    """Search the web for the conversation's questions from the next one on, or no more. Raises `WebSearchNotOffered`.

    A reply that is being made goes on as it began.
    """
    if web_search_choice(conversation.scenario) != WebSearch.OFFERED:
        raise WebSearchNotOffered
    conversation.searches_web = searches_web
    Conversation.objects.filter(pk=conversation.pk).update(searches_web=searches_web)


@contextmanager
def _scenario_is_there() -> Iterator[None]:
    """Raise `ScenarioNotFound` for a scenario that is deleted while it is being chosen."""
    try:
        with transaction.atomic():
            yield
            connection.check_constraints()  # or the database would look for the scenario at the very end
    except IntegrityError as error:
        raise ScenarioNotFound from error


def rename_conversation(conversation: Conversation, *, title: str) -> str:
    """Name the conversation and return its name as it is stored; blank if nothing of *title* can be seen.

    Then nothing is changed. Otherwise no language model names it from then on. All pages of its owner show it.
    """
    cleaned = clean_name(title, most_characters=Conversation._meta.get_field("title").max_length)
    if cleaned:
        Conversation.objects.filter(pk=conversation.pk).update(title=cleaned, title_is_given=True)
        frame = ConversationRenamed(conversation.public_id, cleaned)
        transaction.on_commit(partial(publish, person_topic(conversation.owner_id), frame.to_json()))
    return cleaned
