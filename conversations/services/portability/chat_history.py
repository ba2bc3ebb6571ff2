"""The history of a conversation, apart from its scenario, in and out in OpenAI's chat format.

    history = ChatHistory.from_openai(user=user, messages=[{"role": "user", "content": "Hello"}])
    history.add("assistant", "Good morning.")
    history.to_openai()

One conversation, one history. What is in it has succeeded: of a reply that failed or was stopped the conversation keeps
the text and its mark, but the history has it only if asked. Nothing here calls a language model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.postgres.copy_rows import take_ids
from conversations.access import require_admitted
from conversations.core.errors import InvalidHistory
from conversations.core.prompt.messages import PromptMessage, PromptToolCall, Role
from conversations.core.prompt.openai_messages import ROLES, ToolTurns, clean_message, read_messages
from conversations.core.window.history import HistoryMessage, sendable
from conversations.live.fanout import MESSAGES, publish
from conversations.models import Conversation, Message, PathChange, Scenario, ToolCall
from conversations.selectors.conversations.sent_request import prompt_message
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.messages.post_message import title_from
from conversations.services.scenarios.scenario_settings import check_scenario
from conversations.services.scenarios.scenarios import SETTINGS, check_there_is_room, copy_scenario
from conversations.services.windows.active_path import lock_conversation, refuse_while_replying

from .imported_steps import take_as_steps

ROWS_AT_ONCE = 1_000


class ChatHistory:
    """The history of *conversation*: the messages of its active path."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    @classmethod
    def from_openai(cls, *, user: User, messages: Sequence[Any], scenario_id: int | None = None) -> Self:
        """Begin a conversation with *messages*, counted as if they had been written here.

        A leading system message is no history: it is the chosen scenario's own, or becomes a scenario of the user's.
        Raises `InvalidHistory` or an `AccessError`, such as `ScenarioNotFound`; then nothing is stored.
        """
        require_admitted(user)
        read = read_messages(messages)
        with transaction.atomic():
            scenario = _scenario_for(user, scenario_id, read.system_prompt)
            title = title_from(next((each.content for each in read.messages if each.role == "user"), ""))
            conversation = Conversation.objects.create(
                owner=user, scenario=scenario, title=title, last_active_at=timezone.now()
            )
            append_messages(conversation, read.messages)
        return cls(conversation)

    def messages(self, *, with_partial: bool = False) -> list[PromptMessage]:
        """Return the messages, oldest first; *with_partial* also the text so far of replies that are not complete."""
        rows = self._rows() if with_partial else self._rows().filter(state="complete")
        return [_named_message(row) for row in rows if row.content or row.tool_calls or row.role == "tool"]

    def add(
        self,
        role: Role,
        content: str,
        *,
        name: str | None = None,
        tool_calls: Sequence[PromptToolCall] = (),
        tool_call_id: str | None = None,
    ) -> Message:
        """Store the next message. Raises `InvalidHistory` if it can't follow the last one, `ReplyInProgress`."""
        if role not in ROLES:
            raise InvalidHistory(reason="a message has an unknown role")
        if role == "system":
            raise InvalidHistory(reason="the system message does not come first")
        message = clean_message(PromptMessage(role, content, name, tuple(tool_calls), tool_call_id))
        with transaction.atomic():
            locked = lock_conversation(self.conversation)
            refuse_while_replying(locked)
            _open_turn(locked).take(message)
            [stored] = append_messages(locked, [message])
        return stored

    def to_openai(self, *, include_system: bool = False) -> list[dict[str, Any]]:
        """Return the history as a provider may be sent it.

        Without what is excluded or forgotten, and no half of a tool turn.
        """
        kept = self._rows().filter(state="complete", position__gte=F("conversation__forgotten_before"))
        history = [
            HistoryMessage(row.position, _named_message(row), row.content_tokens, row.pk, row.excluded) for row in kept
        ]
        written = [each.message.to_json() for each in sendable(history)]
        system_prompt = self.conversation.scenario.system_prompt if include_system else ""
        return [PromptMessage("system", system_prompt).to_json(), *written] if system_prompt else written

    def _rows(self) -> Any:
        return self.conversation.messages.filter(active=True).order_by("position")


def _named_message(row: Message) -> PromptMessage:
    return prompt_message(row)._replace(name=row.name or None)


def _scenario_for(user: User, scenario_id: int | None, system_prompt: str | None) -> Scenario:
    """Return the chosen scenario, or one of the user's own that differs from it in its system prompt only."""
    chosen = scenario_to_begin_with(user, scenario_id)
    if system_prompt is None or system_prompt == chosen.system_prompt:
        return chosen
    wanted = copy_scenario(user, chosen)
    wanted.system_prompt, wanted.name = system_prompt, title_from(system_prompt) or chosen.name
    return _stored_already(wanted) or _store(user, wanted)


def _stored_already(wanted: Scenario) -> Scenario | None:
    same = {name: getattr(wanted, name) for name in SETTINGS}
    return Scenario.objects.filter(owner=wanted.owner, **same).order_by("pk").first()


def _store(user: User, scenario: Scenario) -> Scenario:
    try:
        check_there_is_room(user)
        check_scenario(scenario)
    except ValidationError as error:
        raise InvalidHistory(reason="their system message can’t become one of your scenarios") from error
    scenario.save()
    return scenario


def _open_turn(conversation: Conversation) -> ToolTurns:
    """Return what the tool calls at the end of the path still wait for."""
    answered: list[str] = []
    for message in conversation.messages.filter(active=True).order_by("-position").iterator(chunk_size=20):
        if message.role != "tool":
            calls = {call["id"] for call in message.tool_calls}
            return ToolTurns(calls - set(answered), answered)
        answered.append(message.tool_call_id)
    return ToolTurns()


def append_messages(
    conversation: Conversation,
    messages: Sequence[PromptMessage],
    picture_ids: Mapping[int, list[int]] = MappingProxyType({}),
) -> list[Message]:
    """Store *messages* at the end of the path, whose conversation is locked or new.

    *picture_ids* are those of pictures of the conversation, by the place of their message in *messages*.
    """
    rows = list(_numbered(conversation, messages, conversation_context(conversation)))
    for place, ids in picture_ids.items():
        rows[place].picture_ids = ids
    calls = take_as_steps(rows)
    Message.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
    ToolCall.objects.bulk_create(calls, batch_size=ROWS_AT_ONCE)
    PathChange.objects.create(conversation=conversation, position=rows[0].position)
    transaction.on_commit(partial(publish, MESSAGES, "stored"))
    conversation.head = rows[-1]
    conversation.last_active_at, conversation.retention_ends_at = timezone.now(), None
    conversation.save(update_fields=["head", "last_active_at", "retention_ends_at"])
    return rows


def _numbered(
    conversation: Conversation, messages: Sequence[PromptMessage], context: ModelContext
) -> Iterator[Message]:
    """Yield the rows with their ids: each names the one before it as its parent, and all are stored together."""
    head = conversation.head
    parent_id, position = (head.pk, head.position + 1) if head else (None, 0)
    for offset, (pk, message) in enumerate(zip(take_ids(Message, len(messages)), messages, strict=True)):
        yield Message(
            pk=pk,
            conversation=conversation,
            parent_id=parent_id,
            position=position + offset,
            role=message.role,
            content=message.content,
            name=message.name or "",
            tool_calls=[call.to_json() for call in message.tool_calls],
            tool_call_id=message.tool_call_id or "",
            content_tokens=context.content_tokens(message._replace(name=None)),  # a prompt has no names
            encoding=context.language_model.encoding,
        )
        parent_id = pk
