"""Continue a reply that was cut off: what it says stays, and the language model goes on behind it.

    reply, ended with text ──continue_reply──▶ the same reply, streaming, with a new run ──▶ claimed like any other

How much of the text was there is kept with the run, `Run.text_before`: all that is written comes behind it, and
whatever ends the run leaves it. A continued reply calls no tools: its text would become that of a step.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.access import find_reply, lock_admitted
from conversations.core.errors import MessageExcluded, NothingToContinue, ReplyInProgress
from conversations.core.prompt.continuation import may_be_continued
from conversations.live.fanout import RUNS, publish
from conversations.models import Completion, Conversation, Message, PathChange, Run
from conversations.providers.catalog.language_models import language_models
from conversations.services.language_models.model_choice import choose_model, is_offered, use_model_of_run
from conversations.services.language_models.model_context import conversation_context
from conversations.services.language_models.run_parameters import use_parameters_of_run
from conversations.services.limits.message_checks import MINUTE, check_regeneration
from conversations.services.windows.active_path import lock_conversation
from conversations.services.windows.build_window import text_so_far


def continue_reply(*, user: User, conversation: Conversation, reply_id: int, length: int) -> Message:
    """Have the last reply continued, of which the user has seen *length* code points; returns it, streaming.

    Asked for twice, it is continued once: one that has gone on from there, or is going on, is returned as it is. Raises
    `NothingToContinue` for a reply that is not the last one or was not cut off, `ReplyInProgress` while it is made for
    the first time, and what a message would be refused for.
    """
    with transaction.atomic():
        lock_admitted(user)
        locked = lock_conversation(conversation)
        reply = find_reply(locked, reply_id)
        before = Run.objects.filter(reply=reply).first()
        if not reply.has_ended:
            if before is None or not before.continues or before.text_before != length:
                raise ReplyInProgress
            return reply
        if locked.head_id != reply.pk or reply.parent is None:
            raise NothingToContinue
        if len(reply.content) > length:
            return reply  # it has been continued from there, and has ended since
        if not _was_cut_off(reply):
            raise NothingToContinue
        if reply.excluded or reply.parent.excluded:
            raise MessageExcluded
        _check(user, locked, reply, before)
        _begin_again(locked, reply, before)
        transaction.on_commit(partial(publish, RUNS, "waiting"))
    return reply


def _was_cut_off(reply: Message) -> bool:
    reasons = Completion.objects.filter(reply=reply).order_by("-id").values_list("finish_reason", flat=True)
    return may_be_continued(
        content=reply.content, state=reply.state, error_code=reply.error_code, finish_reason=reasons.first() or ""
    )


def _check(user: User, conversation: Conversation, reply: Message, before: Run | None) -> None:
    """Check limits, window and money. The model that began the reply goes on, if it is still on offer."""
    begun_with = language_models().get(before.language_model) if before else None
    if before and begun_with and is_offered(begun_with, user):
        use_model_of_run(conversation, before.language_model, before.effort)
    use_parameters_of_run(conversation, before.parameters if before else {})
    check_regeneration(
        user,
        conversation,
        reply.answered_message,
        reply_reserve_tokens=before.reply_reserve_tokens if before else None,
        text_so_far=text_so_far(reply, conversation_context(conversation), length=len(reply.content)),
    )


def _begin_again(conversation: Conversation, reply: Message, before: Run | None) -> None:
    """Let the reply stream again, and put a new run in the place of the one that has ended.

    Its tokens are counted when it ends, as those of any reply that streams.
    """
    now, choice = timezone.now(), choose_model(conversation)
    asked = [*before.asked_before, before.created_at] if before else []
    if before:
        before.delete()
    Message.objects.filter(pk=reply.pk).update(state="streaming", error_code="", error_params={}, content_tokens=0)
    Run.objects.create(
        reply=reply,
        language_model=choice.configured.name,
        effort=choice.effort,
        reply_reserve_tokens=before.reply_reserve_tokens if before else None,
        text_before=len(reply.content),
        reasoning_before=len(reply.reasoning),
        asked_before=[moment for moment in asked if moment > now - MINUTE],
        parameters=before.parameters if before else {},
    )
    PathChange.objects.create(conversation=conversation, position=reply.position)
    Conversation.objects.filter(pk=conversation.pk).update(last_active_at=now, retention_ends_at=None)
    reply.state = "streaming"
