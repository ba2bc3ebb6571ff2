"""Start, keep, rename, delete and restore a conversation, choose its scenario, and switch its web search."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.names import clean_name
from conversations.core.errors import ConversationHeld, ConversationNotFound, ScenarioNotFound, WebSearchNotOffered
from conversations.core.frames.definitions import ConversationDeleted, ConversationRenamed, ModelChosen
from conversations.live.fanout import person_topic, publish, publish_frame, publish_list_change
from conversations.models import Conversation, Folder, Picture, Scenario
from conversations.models.scenario import PLAIN, WITH_TOOLS, WebSearch
from conversations.selectors.conversations.conversation_list import HOLDS_NOTHING
from conversations.selectors.conversations.deleted_conversations import can_be_restored, oldest_deletion
from conversations.selectors.conversations.scenarios import find_scenario
from conversations.selectors.conversations.web_search import web_search_choice
from conversations.selectors.retention.holds import HELD
from conversations.services.language_models.model_choice import check_choice
from conversations.services.ledger.anonymize_ledger import wait_for_other_deletions
from conversations.services.replies.stop_reply import stop_reply
from conversations.services.windows.active_path import lock_conversation

KEPT_UNUSED = dt.timedelta(days=1)
KEPT_TEMPORARILY = dt.timedelta(days=1)
SWEPT_AT_ONCE = 100
REMOVED_AT_ONCE = 20  # while their owner waits
BUILT_IN_TOOLS = ("calculator", "current_time", "search_conversation", "search_documents")


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


def keep_conversation(conversation: Conversation) -> None:
    """Keep a conversation that would be deleted soon: retention counts its days from now on.

    A temporary one is like any other from now on. Raises `ConversationNotFound` if it is over.
    """
    still_there = Q(temporary_until=None) | Q(temporary_until__gt=timezone.now())
    there = Conversation.objects.filter(still_there, pk=conversation.pk, deleted_at=None)
    if not there.update(temporary_until=None, retention_ends_at=None, kept_at=timezone.now()):
        raise ConversationNotFound
    conversation.temporary_until = conversation.retention_ends_at = None
    transaction.on_commit(partial(publish_list_change, conversation.owner_id, [conversation.public_id]))


def keep_all_conversations(user: User) -> int:
    """Keep all of the user's conversations that retention would delete soon. Returns how many."""
    soon = Conversation.objects.filter(owner=user, deleted_at=None, retention_ends_at__isnull=False)
    public_ids = list(soon.values_list("public_id", flat=True))
    kept = soon.update(retention_ends_at=None, kept_at=timezone.now())
    transaction.on_commit(partial(publish_list_change, user.pk, public_ids))
    return kept


def scenario_to_begin_with(user: User, scenario_id: int | None = None) -> Scenario:
    """Return the chosen scenario, or the default if none is. Raises `ScenarioNotFound`."""
    return default_scenario() if scenario_id is None else find_scenario(user, scenario_id)


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


def default_scenario() -> Scenario:
    """Return the scenario that new conversations start with, made at first use.

    One with tools is made beside it: the default has none, because some providers refuse every request with tools.
    """
    if found := Scenario.objects.filter(is_default=True).first():
        return found
    try:
        with transaction.atomic():
            Scenario.objects.create(name=WITH_TOOLS, offered=True, tools=list(BUILT_IN_TOOLS))
            return Scenario.objects.create(name=PLAIN, offered=True, is_default=True)
    except IntegrityError:  # another request was first
        return Scenario.objects.get(is_default=True)


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


def delete_conversation(conversation: Conversation) -> None:
    """Delete the conversation, stop its reply, tell all pages of its owner. It can be restored until it is swept."""
    with transaction.atomic():
        locked = lock_conversation(conversation)  # a message that is being sent comes before this, or is refused
        locked.deleted_at = timezone.now()
        locked.save(update_fields=["deleted_at"])
        _announce_deletion(locked, deleted=True, can_be_undone=True)
    for reply in conversation.messages.filter(state="streaming"):
        stop_reply(conversation=conversation, reply_id=reply.pk)


def restore_conversation(*, user: User, public_id: uuid.UUID) -> Conversation:
    """Bring a deleted conversation back, for all pages of its owner. Raises `ConversationNotFound` if it is gone."""
    mine = Conversation.objects.filter(public_id=public_id, owner_id=user.pk)
    mine.filter(can_be_restored()).update(**restored_columns())
    if (conversation := mine.filter(deleted_at=None).first()) is None:
        raise ConversationNotFound
    _announce_deletion(conversation, deleted=False, can_be_undone=False)
    return conversation


def remove_deleted_conversations(user: User, public_id: uuid.UUID | None = None) -> None:
    """Remove the user's deleted conversation permanently before its time, or all of them that no legal hold keeps.

    From now on none of them can be restored. The rows of a few are deleted at once, those of others by the next sweeps,
    and of one with a reply that is being stopped once that has ended. Raises `ConversationHeld` if that one is held.
    """
    deleted = Conversation.objects.filter(can_be_restored(), owner=user)
    if public_id is not None:
        deleted = deleted.filter(public_id=public_id)
        if deleted.filter(HELD).exists():
            raise ConversationHeld
    chosen = list(deleted.filter(~HELD).values_list("pk", flat=True))
    if public_id is not None and not chosen:
        raise ConversationNotFound
    over = Conversation.objects.filter(~HELD, pk__in=chosen, deleted_at__isnull=False)
    over.update(deleted_at=oldest_deletion())
    being_stopped = set(over.filter(messages__state="streaming").values_list("pk", flat=True))
    for pk in chosen[:REMOVED_AT_ONCE]:
        if pk not in being_stopped:
            _sweep(over, pk)


def restored_columns() -> dict[str, Any]:
    """Return the columns of a conversation that is brought back, and touched by that."""
    return {
        "deleted_at": None,
        "deleted_by_retention": False,
        "retention_ends_at": None,
        "kept_at": timezone.now(),
    }


def _announce_deletion(conversation: Conversation, *, deleted: bool, can_be_undone: bool) -> None:
    """Tell all pages of the owner, once that is stored, whether the conversation is there."""
    frame = ConversationDeleted(conversation.public_id, deleted, can_be_undone)
    transaction.on_commit(partial(publish, person_topic(conversation.owner_id), frame.to_json()))


def sweep_deleted_conversations() -> int:
    """Delete the rows of what was deleted long enough ago; the ledger keeps its amounts. Returns how many.

    What a legal hold keeps stays. Pages that still show one no longer offer to undo the deletion.
    """
    over = Conversation.objects.filter(~HELD, deleted_at__lte=oldest_deletion())
    return sum(_sweep(over, pk) for pk in over.values_list("pk", flat=True)[:SWEPT_AT_ONCE])


def sweep_temporary_conversations() -> int:
    """Delete temporary conversations whose time is over, without a way back. Returns how many.

    One with a reply that is being made waits until that has been stopped, and one under a legal hold until that is
    lifted.
    """
    over = Conversation.objects.filter(~HELD, temporary_until__lt=timezone.now())
    swept = 0
    for conversation in over.order_by("temporary_until")[:SWEPT_AT_ONCE]:
        streaming = list(conversation.messages.filter(state="streaming").values_list("pk", flat=True))
        for reply_id in streaming:
            stop_reply(conversation=conversation, reply_id=reply_id)
        if not streaming:
            swept += _sweep(over, conversation.pk)
    return swept


def sweep_unused_conversations() -> int:
    """Delete conversations in which nothing was kept for a day, once their unsent pictures are gone. Returns how many.

    They have never been in the list.
    """
    pictures = Picture.objects.filter(conversation=OuterRef("pk"))
    over = Conversation.objects.filter(
        HOLDS_NOTHING, ~HELD, ~Exists(pictures), last_active_at__lt=timezone.now() - KEPT_UNUSED, deleted_at=None
    )
    return sum(_sweep(over, pk, tells_pages=False) for pk in over.values_list("pk", flat=True)[:SWEPT_AT_ONCE])


def _sweep(over: QuerySet[Conversation], pk: int, *, tells_pages: bool = True) -> bool:
    """Delete one conversation, unless its owner brings it back at this moment.

    Its pages are told, unless *tells_pages* is false: a page may begin an unused one again under the same id.
    """
    with transaction.atomic():
        wait_for_other_deletions()
        conversation = over.select_for_update(skip_locked=True).filter(pk=pk).first()
        if conversation:
            if tells_pages:
                _announce_deletion(conversation, deleted=True, can_be_undone=False)
            conversation.delete()
    return conversation is not None
