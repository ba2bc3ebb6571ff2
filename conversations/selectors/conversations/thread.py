"""The messages of a conversation's active path as pages read them: the newest or those at a place, with their costs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import F, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.core.prompt.messages import PromptToolCall
from conversations.core.window.window_record import GroundingRecord
from conversations.models import Completion, Conversation, Message, ToolCall
from conversations.models.message import MessageRole, MessageState

from .pictures import ShownPicture, shown_pictures
from .reasoning import REASONING_COLUMNS, SHOWN_REASONING, ShownReasoning, shown_reasoning
from .reply_costs import COST_COLUMNS, CostRow, ReplyCost, reply_cost, with_reply_cost
from .sources import grounding_record
from .thread_steps import NO_STEPS, ReplySteps, steps_of_replies
from .versions import Versions, versions_of_messages

PAGE_MESSAGES = 30
MESSAGES_BEFORE_A_PLACE = 10  # of a page around it, so that what led to it can be read
MOST_IN_A_SNAPSHOT = 200
MESSAGE_COLUMNS = (
    *("pk", "parent_id", "position", "role", "state", "created_at", "content", "error_code", "error_params"),
    *(
        "pinned",
        "excluded",
        "never_recalled",
        "picture_ids",
        "tool_calls",
        "last_step",
        "stored_step",
        "run_model",
        "searches_web_now",
        "verdict",
    ),
    "copied_model",
    *REASONING_COLUMNS,
)
NO_GROUNDING = GroundingRecord()
COMPLETION_COLUMNS = ("reply_id", "language_model", "finish_reason", "tools_withheld", "grounding")

Rows = QuerySet[Message, tuple[Any, ...]]


class LastCompletion(NamedTuple):
    """The last request made for a reply; *cost* is that of all of them, or None where its owner hides costs."""

    language_model: str
    finish_reason: str
    tools_withheld: bool
    grounding: GroundingRecord
    cost: ReplyCost | None


class ThreadMessage(NamedTuple):
    """A message of the thread: `MESSAGE_COLUMNS`, and what is read beside them.

    *tool_calls* are of functions of a program, which has not sent their results. *last_step* is the step that its tool
    calls have reached, None without any, and *stored_step* the last one that is stored. *run_model* is the language
    model that its run was begun with. *verdict* is its rating's, if its owner has rated it. *question* is what a reply
    answers, *steps* are its tool calls, *pictures* those of a user's message, and *versions* are there if the message
    has other versions.
    """

    pk: int
    parent_id: int | None
    position: int
    role: str
    state: str
    created_at: dt.datetime
    content: str
    error_code: str
    error_params: dict[str, Any]
    pinned: bool
    excluded: bool
    never_recalled: bool
    picture_ids: list[int]
    tool_calls: list[dict[str, Any]]
    last_step: int | None
    stored_step: int | None
    run_model: str | None = None
    searches_web_now: bool | None = None
    verdict: str | None = None
    copied_model: str = ""
    shown_reasoning: str = ""
    reasoning_characters: int = 0
    reasoning_tokens: int | None = None
    reasoning_tokens_estimated: bool = False
    reasoning_seconds: float | None = None
    completion: LastCompletion | None = None
    question: str = ""
    versions: Versions | None = None
    steps: ReplySteps = NO_STEPS
    pictures: tuple[ShownPicture, ...] = ()

    @property
    def is_reply(self) -> bool:
        return self.role == MessageRole.ASSISTANT

    @property
    def made_by(self) -> str:
        """The name of the language model that makes a reply: the ledger's, and before its first request the run's.

        That of a copied reply is kept with it.
        """
        return (self.completion.language_model if self.completion else "") or self.run_model or self.copied_model

    @property
    def has_ended(self) -> bool:
        return self.state != MessageState.STREAMING

    @property
    def reasoning(self) -> ShownReasoning | None:
        """What was thought in the step that the content belongs to."""
        tokens = self.reasoning_tokens, self.reasoning_tokens_estimated
        text = self.shown_reasoning, self.reasoning_characters
        return shown_reasoning(self.pk, *text, *tokens, self.reasoning_seconds)

    @property
    def is_thinking(self) -> bool:
        """Whether the language model thinks now: nothing else has come of the step."""
        return not self.has_ended and bool(self.shown_reasoning) and not self.content and not self.steps.calls

    @property
    def is_searching_web(self) -> bool:
        """Whether the web is searched for its question: nothing else has come of it."""
        has_begun = bool(self.content or self.shown_reasoning or self.steps.calls)
        return not self.has_ended and bool(self.searches_web_now) and not has_begun

    @property
    def open_calls(self) -> list[PromptToolCall]:
        """The calls that a reply ended with: a program was to run them, and its results would follow."""
        return [PromptToolCall.from_json(call) for call in self.tool_calls] if self.has_ended else []

    @property
    def length(self) -> int:
        """How many code points the content has."""
        return len(self.content)

    @property
    def first_position(self) -> int:
        """The position where it begins on the path: a reply begins with its first step."""
        return self.position - self.steps.message_count

    @property
    def grounding(self) -> GroundingRecord:
        return self.completion.grounding if self.completion else NO_GROUNDING

    @property
    def cost(self) -> ReplyCost | None:
        return self.completion.cost if self.completion else None


class MessagePage(NamedTuple):
    """Messages oldest first. *has_older* if there are some before *first_position*, *has_newer* after *last_position*.

    *model_before* is the name of the language model that made the last reply before them. *grounding_before* is what
    was looked up for that reply; it is read only where nothing was found for the first reply of these.
    """

    messages: list[ThreadMessage]
    has_older: bool
    model_before: str = ""
    has_newer: bool = False
    grounding_before: GroundingRecord = NO_GROUNDING

    @property
    def first_position(self) -> int:
        return self.messages[0].first_position if self.messages else 0

    @property
    def last_position(self) -> int:
        return self.messages[-1].position if self.messages else 0


NO_MESSAGES = MessagePage([], has_older=False)


def thread_page(conversation: Conversation, *, before: int | None = None, limit: int = PAGE_MESSAGES) -> MessagePage:
    """Return the last *limit* messages, or those before position *before*."""
    if before is None:
        return _read_page(conversation, _newest.all(conversation.pk, limit=limit))
    page = _read_page(conversation, _newest_before.all(conversation.pk, before, limit=limit))
    return page._replace(has_newer=_has_newer(conversation, page))


def thread_page_after(conversation: Conversation, position: int, *, limit: int = PAGE_MESSAGES) -> MessagePage:
    """Return the first *limit* messages after *position*."""
    page = _read_page(conversation, _oldest_from.all(conversation.pk, position + 1, limit=limit))
    return page._replace(has_newer=_has_newer(conversation, page))


def thread_page_around(conversation: Conversation, position: int, *, limit: int = PAGE_MESSAGES) -> MessagePage:
    """Return *limit* messages around *position*, some of them before it; of one behind the end, the last."""
    before = _active_path(conversation.pk).filter(position__lt=position).order_by("-position")
    first = min(before.values_list("position", flat=True)[:MESSAGES_BEFORE_A_PLACE], default=position)
    page = _read_page(conversation, _oldest_from.all(conversation.pk, first, limit=limit))
    return page._replace(has_newer=_has_newer(conversation, page))


def position_of(conversation: Conversation, message_id: int) -> int | None:
    """Return where a message stands that is on the path; the step of a reply stands where the reply does."""
    found = conversation.messages.filter(pk=message_id, active=True).values_list("position", "step_of__position")
    return next((reply or position for position, reply in found), None)


def position_on(conversation: Conversation, moment: dt.datetime) -> int:
    """Return where the first message from *moment* on stands; where there is none, the last."""
    path = conversation.messages.filter(active=True, step_of=None)
    later = path.filter(created_at__gte=moment).order_by("position").values_list("position", flat=True).first()
    return later if later is not None else path.aggregate(last=Max("position", default=0))["last"]


def _has_newer(conversation: Conversation, page: MessagePage) -> bool:
    return bool(page.messages) and bool(_newer.first(conversation.pk, page.last_position))


@compiled_queryset
def _newer(conversation_id: int, position: int) -> QuerySet[Message, int]:
    newer = Message.objects.filter(conversation_id=conversation_id, active=True, position__gt=position)
    return newer.order_by("position").values_list("pk", flat=True)[:1]


def thread_from(conversation: Conversation, from_position: int) -> MessagePage:
    """Return the messages from *from_position* on; of very many, the newest."""
    return _read_page(conversation, _newest_from.all(conversation.pk, from_position, limit=MOST_IN_A_SNAPSHOT))


@compiled_queryset
def _newest(conversation_id: int, *, limit: int) -> Rows:
    return _active_path(conversation_id).order_by("-position").values_list(*MESSAGE_COLUMNS)[:limit]


@compiled_queryset
def _newest_before(conversation_id: int, position: int, *, limit: int) -> Rows:
    path = _active_path(conversation_id).filter(position__lt=position)
    return path.order_by("-position").values_list(*MESSAGE_COLUMNS)[:limit]


@compiled_queryset
def _newest_from(conversation_id: int, position: int, *, limit: int) -> Rows:
    path = _active_path(conversation_id).filter(position__gte=position)
    return path.order_by("-position").values_list(*MESSAGE_COLUMNS)[:limit]


@compiled_queryset
def _oldest_from(conversation_id: int, position: int, *, limit: int) -> Rows:
    path = _active_path(conversation_id).filter(position__gte=position)
    return path.order_by("position").values_list(*MESSAGE_COLUMNS)[:limit]


def _active_path(conversation_id: int) -> QuerySet[Message]:
    """Return the messages of the path without the steps of replies, which are shown with their reply.

    *last_step* and *stored_step* are read in the same statement as the content, which begins again with each step.
    """
    steps = ToolCall.objects.filter(reply=OuterRef("pk")).order_by("-step").values("step")
    path = Message.objects.filter(conversation_id=conversation_id, active=True, step_of=None)
    path = path.annotate(**SHOWN_REASONING)
    return path.annotate(
        last_step=Subquery(steps[:1]),
        stored_step=Subquery(steps.exclude(message=None)[:1]),
        run_model=F("run__language_model"),
        searches_web_now=F("run__searches_web_now"),
        verdict=F("rating__verdict"),
    )


def _read_page(conversation: Conversation, rows: Iterable[tuple[Any, ...]]) -> MessagePage:
    messages = sorted((ThreadMessage(*row) for row in rows), key=attrgetter("position"))
    completions = _last_completions(messages, with_costs=conversation.owner.shows_costs)
    questions = _questions(messages)
    versions = versions_of_messages(conversation.pk, {message.pk: message.parent_id for message in messages})
    steps = steps_of_replies({message.pk: message.stored_step or 0 for message in messages if message.last_step})
    pictures = shown_pictures([message.pk for message in messages if message.picture_ids])
    shown = [
        message._replace(
            completion=completions.get(message.pk),
            question=questions.get(message.parent_id, ""),
            versions=versions.get(message.pk),
            steps=steps.get(message.pk, NO_STEPS),
            pictures=pictures.get(message.pk, ()),
        )
        for message in messages
    ]
    if not messages or messages[0].position == 0:
        return MessagePage(shown, has_older=False)
    model_before = _model_before(conversation, messages[0].position)
    grounding_before = _grounding_before(conversation, shown)
    return MessagePage(shown, has_older=True, model_before=model_before, grounding_before=grounding_before)


def _model_before(conversation: Conversation, position: int) -> str:
    """Return the name of the language model that made the last reply on the path before *position*."""
    return _models_before.first(conversation.pk, position) or ""


@compiled_queryset
def _models_before(conversation_id: int, position: int) -> QuerySet[Message, str]:
    last = Completion.objects.filter(reply=OuterRef("pk")).order_by("-id").values("language_model")[:1]
    made_by = Coalesce(Subquery(last), "run__language_model", "copied_model")
    return _replies_before(conversation_id, position).values_list(made_by, flat=True)[:1]


def _grounding_before(conversation: Conversation, shown: list[ThreadMessage]) -> GroundingRecord:
    """Return what was looked up for the last reply before *shown*, if nothing was found for the first one of these."""
    first = next((message for message in shown if message.is_reply), None)
    if not (first and first.grounding.look_up and not first.grounding.found):
        return NO_GROUNDING
    return grounding_record(_groundings_before.first(conversation.pk, first.position))


@compiled_queryset
def _groundings_before(conversation_id: int, position: int) -> QuerySet[Message, dict[str, Any] | None]:
    completions = Completion.objects.filter(reply=OuterRef("pk")).order_by("-id")
    last = completions.annotate(grounding=F("window__grounding")).values("grounding")[:1]
    return _replies_before(conversation_id, position).values_list(Subquery(last), flat=True)[:1]


def _replies_before(conversation_id: int, position: int) -> QuerySet[Message]:
    """Return the replies on the path before *position*, the last one first."""
    path = Message.objects.filter(conversation_id=conversation_id, active=True, step_of=None)
    return path.filter(role=MessageRole.ASSISTANT, position__lt=position).order_by("-position")


def _questions(oldest_first: Sequence[ThreadMessage]) -> dict[int | None, str]:
    """Return the users' messages by id; a page or a snapshot may begin with the reply to one that is not on it."""
    found: dict[int | None, str] = {
        message.pk: message.content for message in oldest_first if message.role == MessageRole.USER
    }
    first = oldest_first[0] if oldest_first else None
    if first and first.is_reply and first.parent_id and (asked := _contents.first(first.parent_id)):
        found[first.parent_id] = asked
    return found


@compiled_queryset
def _contents(message_id: int) -> QuerySet[Message, str]:
    return Message.objects.filter(pk=message_id).values_list("content", flat=True)


def _last_completions(messages: Iterable[ThreadMessage], *, with_costs: bool) -> dict[int, LastCompletion]:
    replies = [message.pk for message in messages if message.is_reply]
    found = _completions_of.all(replies, with_costs=with_costs) if replies else []
    return {reply: _last_completion(*columns) for reply, *columns in found}


@compiled_queryset
def _completions_of(reply_ids: list[int], *, with_costs: bool) -> QuerySet[Completion, tuple[Any, ...]]:
    last = Completion.objects.filter(reply_id__in=reply_ids).order_by("reply_id", "-id").distinct("reply_id")
    rows = last.annotate(grounding=F("window__grounding"), tools_withheld=F("window__tools_withheld"))
    if with_costs:
        return with_reply_cost(rows).values_list(*COMPLETION_COLUMNS, *COST_COLUMNS)
    return rows.values_list(*COMPLETION_COLUMNS)


def _last_completion(
    language_model: str, finish_reason: str, tools_withheld: bool | None, grounding: dict[str, Any] | None, *costs: Any
) -> LastCompletion:
    cost = reply_cost(CostRow(*costs)) if costs else None
    return LastCompletion(language_model, finish_reason, bool(tools_withheld), grounding_record(grounding), cost)
