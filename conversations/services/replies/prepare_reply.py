"""Prepare a step of a reply: choose its window, or a smaller one if the provider finds the prompt too long."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from decimal import Decimal

from django.db.models import Exists, F, OuterRef, Q

from chatsite.postgres.compiled_query import CompiledQuery
from conversations.core.errors import ContextTooLong, PromptError
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.kept_reasoning import KeptReasoning
from conversations.core.prompt.messages import PromptMessage, with_whole_call_ids
from conversations.core.window.calibration import RefusedPrompt
from conversations.core.window.compute_window import Window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.core.window.window_record import Withheld
from conversations.models import Completion, Conversation, Document, Message, ToolCall
from conversations.models.document import DocumentState
from conversations.providers.openai_api.context_length import says_context_too_long
from conversations.selectors.conversations.history import HistoryRow
from conversations.selectors.conversations.sent_request import passage_of
from conversations.services.grounding.keep_passages import origin_of
from conversations.services.grounding.look_up import LookedUp
from conversations.services.grounding.recall import Recalled, still_sendable
from conversations.services.language_models.calibration import learn_limit, learn_refused
from conversations.services.language_models.effective_policy import (
    conversation_policy,
    effective_policy,
    reply_reserve_tokens,
)
from conversations.services.language_models.model_choice import conversation_toolbox, use_model_of_run
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.language_models.run_parameters import use_parameters_of_run
from conversations.services.summaries.want_summary import want_summary
from conversations.services.windows.build_window import (
    StoredCounts,
    begins_elsewhere,
    build_window,
    stored_message,
    text_so_far,
)
from conversations.tools.toolbox import NO_TOOLS, Toolbox

logger = logging.getLogger(__name__)
CALLS = ToolCall.objects.filter(reply=OuterRef("pk"))
STILL_READ = (DocumentState.WAITING, DocumentState.PARSING)
DOCUMENTS = Document.objects.filter(
    Q(conversation=OuterRef("conversation"))
    | Q(folder=OuterRef("conversation__folder"))
    | Q(scenario=OuterRef("conversation__scenario"))
)
# A reply by its id, with everything that its windows and its first step need.
TO_BE_MADE = CompiledQuery(
    Message.objects.select_related("parent", "conversation__scenario", "conversation__owner").annotate(
        run_model=F("run__language_model"),
        run_effort=F("run__effort"),
        run_worker=F("run__worker"),
        run_attempt=F("run__attempt"),
        run_parameters=F("run__parameters"),
        run_reserved_usd=F("run__reserved_usd"),
        has_called=Exists(CALLS),
        may_be_looked_up=Exists(DOCUMENTS),
        may_have_to_wait=Exists(DOCUMENTS.filter(state__in=STILL_READ)),
        own_reserve_tokens=F("run__reply_reserve_tokens"),
        text_before=F("run__text_before"),
        run_created_at=F("run__created_at"),
        run_api_key=F("run__api_key"),
        is_of_bound_key=F("run__api_key__is_bound"),
    ),
    "WHERE conversations_message.id = %s",
)


def load_reply(reply_id: int) -> Message:
    """Return the reply, its conversation with the language model and the effort that were chosen when it began.

    They hold for all of its steps, also where the conversation goes on with others meanwhile; so does what a program
    has asked for.
    """
    reply = TO_BE_MADE.get(reply_id)
    use_model_of_run(reply.conversation, reply.run_model, reply.run_effort)  # type: ignore[attr-defined]  # annotated
    use_parameters_of_run(reply.conversation, reply.run_parameters or {})  # type: ignore[attr-defined]  # annotated
    reply.conversation.is_of_bound_key = bool(reply.is_of_bound_key)  # type: ignore[attr-defined]  # annotated
    return reply


@dataclass(frozen=True, slots=True)
class PreparedReply:
    """A reply to be made, with the window of its current *step*, and what was looked up and recalled for its question.

    *model* is that of the language model, read here because a step goes on in the event loop. The *toolbox* is sent
    with the prompt. *tightening* divides the budget, and *most_reserve_tokens* bounds the room for the reply.
    *earlier_requests* were made for the step before it was continued.
    """

    reply: Message
    window: Window
    model: ModelContext
    looked_up: LookedUp | None = None
    recalled: Recalled | None = None
    toolbox: Toolbox = NO_TOOLS
    step: int = 1
    tightening: Decimal = Decimal(1)
    most_reserve_tokens: int | None = None
    earlier_requests: int = 0

    @property
    def is_of_a_loop(self) -> bool:
        """Whether its reply calls tools, or might have: there may be a reservation for the requests that follow."""
        return bool(self.toolbox.tools or self.step > 1 or self.window.record.tools_withheld)

    @property
    def may_hold_reservation(self) -> bool:
        """Whether its run may reserve money beside its request: also one that was put back, and has lost its tools."""
        return self.is_of_a_loop or bool(self.reply.run_reserved_usd)  # type: ignore[attr-defined]  # annotated


def prepare_reply(
    reply_id: int,
    looked_up: LookedUp | None = None,
    *,
    recalled: Recalled | None = None,
    toolbox: Toolbox | None = None,
    tightening: Decimal = Decimal(1),
    most_reserve_tokens: int | None = None,
    tools_withheld: Withheld = "",
    reply: Message | None = None,
    without_recall: PreparedReply | None = None,
) -> PreparedReply:
    """Choose the window of a stored reply, its budget divided by *tightening*. Raises `PromptError`.

    Without a *toolbox* its tools are those that the scenario has now. *most_reserve_tokens* bounds the room for the
    reply. *reply*, from `load_reply`, saves a query. *without_recall* is the same window as it was chosen before the
    look-up: it has moved the anchor already, and what the record compares with is where the reply before this one
    began. Both have the same version of the summary.
    """
    reply = reply or load_reply(reply_id)
    newest, conversation = reply.answered_message, reply.conversation
    if without_recall:
        conversation.anchor_position = without_recall.window.record.anchor
    context = conversation_context(conversation)
    toolbox = toolbox or conversation_toolbox(conversation)
    steps = _load_steps(reply, context)
    window = build_window(
        conversation,
        stored_message(newest, context, conversation=conversation),
        grounding=_candidates(newest, looked_up),
        look_up=looked_up.look_up if looked_up else None,
        recalled=still_sendable(recalled.passages, conversation) if recalled else None,
        recall_error=recalled.error if recalled else "",
        steps=steps.messages,
        toolbox=toolbox,
        policy=_policy_of_its_own(reply, most_reserve_tokens),
        tightening=tightening,
        same_as=without_recall.window if without_recall else None,
        text_so_far=_text_so_far(reply, context),
    )
    _store_grounding_tokens(newest, window)
    _move_anchor(conversation, window)
    _keep_summary_version(conversation, window)
    if tools_withheld:
        window = replace(window, record=replace(window.record, tools_withheld=tools_withheld))
    return PreparedReply(
        reply,
        window,
        context,
        looked_up,
        recalled,
        toolbox,
        steps.current,
        tightening,
        most_reserve_tokens,
        _count_earlier_requests(reply, steps.current),
    )


def _text_so_far(reply: Message, context: ModelContext) -> HistoryMessage | None:
    """Return what the reply said before it was continued, or None where it is made for the first time."""
    length: int = reply.text_before  # type: ignore[attr-defined]  # annotated
    return text_so_far(reply, context, length=length) if length else None


def _count_earlier_requests(reply: Message, step: int) -> int:
    if not reply.text_before:  # type: ignore[attr-defined]  # annotated
        return 0
    began = reply.run_created_at  # type: ignore[attr-defined]  # annotated
    return Completion.objects.filter(reply=reply, step=step, created_at__lt=began).count()


def _policy_of_its_own(reply: Message, most_reserve_tokens: int | None) -> WindowPolicy | None:
    """Return the policy of a reply that has more room than its scenario gives, or less."""
    room_tokens: int | None = reply.own_reserve_tokens  # type: ignore[attr-defined]  # annotated
    if most_reserve_tokens is not None:
        room_tokens = min(room_tokens or reply_reserve_tokens(reply.conversation), most_reserve_tokens)
    if not room_tokens:
        return None
    return conversation_policy(reply.conversation, reply_reserve_tokens=room_tokens)


@dataclass(frozen=True, slots=True)
class _StoredSteps:
    """The stored steps of a reply as *messages*, oldest first, and the number of the *current* step, from 1."""

    messages: tuple[HistoryMessage, ...]
    current: int


def _load_steps(reply: Message, context: ModelContext) -> _StoredSteps:
    """Return the tool calls of *reply* and their results so far."""
    if reply.position == reply.first_position:
        return _StoredSteps((), 1)
    stored = list(reply.steps.order_by("position"))
    rows = [
        HistoryRow(
            id=row.pk,
            position=row.position,
            role=row.role,
            content=row.content,
            content_tokens=row.content_tokens,
            encoding=row.encoding,
            tool_calls=_as_json(row.tool_calls),
            tool_call_id=row.tool_call_id,
        )
        for row in stored
    ]
    counts = StoredCounts(context)
    messages = tuple(counts.of(rows))
    counts.store()
    messages = tuple(
        _with_kept_reasoning(message, row.kept_reasoning, context)
        for message, row in zip(messages, stored, strict=True)
    )
    whole = with_whole_call_ids(message.message for message in messages)
    messages = tuple(_with_sent_ids(message, sent, context) for message, sent in zip(messages, whole, strict=True))
    return _StoredSteps(messages, 1 + sum(bool(message.message.tool_calls) for message in messages))


def _with_kept_reasoning(step: HistoryMessage, stored: str, context: ModelContext) -> HistoryMessage:
    """Return a step with what its provider demands back, counted; nothing where another model would get it."""
    configured = context.configured
    wire = configured.dialect.prompt_format.wire
    if (kept := KeptReasoning.from_stored(stored, language_model=configured.name, wire=wire)) is None:
        return step
    return step._replace(message=step.message._replace(kept=kept), content_tokens=step.content_tokens + kept.tokens)


def _with_sent_ids(step: HistoryMessage, sent: PromptMessage, context: ModelContext) -> HistoryMessage:
    """Return a step as it is *sent*, with the ids of its calls counted as they are there."""
    if sent == step.message:
        return step
    more_tokens = _tokens_of_ids(sent, context) - _tokens_of_ids(step.message, context)
    return step._replace(message=sent, content_tokens=step.content_tokens + more_tokens)


def _tokens_of_ids(message: PromptMessage, context: ModelContext) -> int:
    ids = (*(call.id for call in message.tool_calls), message.tool_call_id or "")
    return sum(map(context.count_text, ids))


def _as_json(tool_calls: list[dict[str, object]]) -> str | None:
    return json.dumps(tool_calls) if tool_calls else None


def prepare_answer(refused: PreparedReply) -> PreparedReply:
    """Choose the window of a reply that has to answer now, because the money does not cover the cost of tool calls.

    Before the first call no tools are sent at all; after it providers need the schemas of those called in the prompt.
    """
    return prepare_reply(
        refused.reply.pk,
        refused.looked_up,
        recalled=refused.recalled,
        toolbox=refused.toolbox if refused.step > 1 else NO_TOOLS,
        tightening=refused.tightening,
        most_reserve_tokens=refused.most_reserve_tokens,
        tools_withheld="money",
    )


def _candidates(question: Message, looked_up: LookedUp | None) -> list[PromptPassage]:
    """Return what may be sent with the question: what it was posted with, then what was looked up, best first.

    Read from the message as it is now: of a document that has been deleted since, it has no text any more.
    """
    stored = [replace(passage_of(entry), number=number) for number, entry in enumerate(question.grounding, start=1)]
    given = [passage for passage, entry in zip(stored, question.grounding, strict=True) if not origin_of(entry)]
    found = looked_up.passages if looked_up else ()
    return given + [passage for passage in found if passage.number and stored[passage.number - 1].text]


def prepare_tighter(refused: PreparedReply, error: ContextTooLong) -> PreparedReply:
    """Choose a smaller window than that of *refused*, by the numbers that the provider named.

    Raises `PromptError` if they leave no room for what must be sent. Where they are missing or explain nothing, by how
    much it is too long would be a guess, not fit to be shown: then the provider's own *error* is raised.
    """
    conversation = refused.reply.conversation
    record = refused.window.record
    if not _may_be_quoted(refused):
        configured = conversation_context(conversation).configured
        if error.names_a_number:
            learn_limit(configured, error.limit_tokens)
        else:
            learn_refused(configured, record.prompt_tokens + record.reply_reserve_tokens)
    prompt = RefusedPrompt(record.prompt_tokens, record.reply_reserve_tokens, error.prompt_tokens)
    most_reserve_tokens = refused.most_reserve_tokens if error.names_a_number else prompt.reserve_to_try_tokens
    tightening, is_explained = _tightening(prompt, refused.reply, most_reserve_tokens)
    logger.warning("reply %d: %s; the budget is divided by %s", refused.reply.pk, error.detail, tightening)
    try:
        return prepare_reply(
            refused.reply.pk,
            refused.looked_up,
            recalled=refused.recalled,
            toolbox=refused.toolbox,
            tightening=tightening,
            most_reserve_tokens=most_reserve_tokens,
            tools_withheld=record.tools_withheld,
        )
    except PromptError:
        if is_explained:
            raise
        raise error from None


def _may_be_quoted(refused: PreparedReply) -> bool:
    """Tell whether the request itself contains text that names a limit.

    Providers quote what they can't make sense of, and a learned limit holds for all users: none of them may choose it.
    """
    sampling = json.dumps(refused.reply.conversation.scenario.sampling, ensure_ascii=False)
    return any(map(says_context_too_long, (sampling, *(message.content for message in refused.window.prompt))))


def _tightening(prompt: RefusedPrompt, reply: Message, most_reserve_tokens: int | None) -> tuple[Decimal, bool]:
    """Return by what to divide the budget, and whether the provider's numbers explain the refusal."""
    context = conversation_context(reply.conversation)
    policy = _policy_of_its_own(reply, most_reserve_tokens) or effective_policy(reply.conversation.scenario, context)
    limit_tokens = context.language_model.context_window_tokens
    room_tokens = policy.budget_tokens(context.language_model)
    tightening = prompt.tightening(limit_tokens=limit_tokens, room_tokens=room_tokens, calibration=context.calibration)
    return tightening, prompt.is_explained_by(limit_tokens)


def _move_anchor(conversation: Conversation, window: Window) -> None:
    """Store where this window begins for the next one; without an anchor it begins with the conversation anyway."""
    if begins_elsewhere(window, conversation):
        Conversation.objects.filter(pk=conversation.pk).update(anchor_position=window.record.first_position)
        if conversation_policy(conversation).summary_limit_tokens:
            want_summary(conversation.pk)


def _keep_summary_version(conversation: Conversation, window: Window) -> None:
    """Store which version is sent from here on, unless its owner has edited or undone it since it was read."""
    summary, as_read = window.record.summary, conversation.summary_version
    if summary and summary.version != as_read:
        unchanged = Conversation.objects.filter(pk=conversation.pk, summary_version=as_read)
        unchanged.update(summary_version=summary.version)


def _store_grounding_tokens(newest: Message, window: Window) -> None:
    if newest.grounding:
        Message.objects.filter(pk=newest.pk).update(grounding_tokens=window.record.grounding.tokens)
