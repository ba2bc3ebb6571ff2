"""Build the window of a conversation: read what `core.window.compute_window` needs from the database, and call it.

Tokens of stored messages are counted once, and again only for a language model with another encoding: `StoredCounts`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from django.db import connection

from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.window.compute_window import Turn, Window, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.core.window.window_record import LookUp
from conversations.models import Conversation, Message
from conversations.providers.tokens.tokenizer import count_tool_schemas
from conversations.selectors.conversations.history import History, HistoryRow, Row, read_history, read_pins
from conversations.selectors.conversations.pictures import SentPicture, sent_pictures
from conversations.selectors.conversations.system_texts import system_texts
from conversations.services.language_models.effective_policy import conversation_policy
from conversations.services.language_models.model_choice import conversation_toolbox
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.language_models.run_parameters import schema_of_answer
from conversations.tools.toolbox import Toolbox

from .window_pictures import WindowPictures, with_smaller_pictures
from .window_summaries import WindowSummaries, same_summary, window_summaries

# A reply may have ended since its row was read: then what was counted here is only the beginning of it. What another
# transaction has locked is left to the next window, so that two who count the same rows never wait for each other.
STORE_COUNTS = """
WITH counted AS (
  SELECT * FROM unnest(%(ids)s::bigint[], %(as_read)s::int[], %(read_in)s::text[], %(tokens)s::int[])
    AS row (id, as_read, read_in, tokens)
), unchanged AS (
  SELECT message.id, tokens FROM conversations_message AS message JOIN counted USING (id)
  WHERE state <> 'streaming' AND content_tokens = as_read AND encoding = read_in
  FOR NO KEY UPDATE OF message SKIP LOCKED
)
UPDATE conversations_message AS message SET content_tokens = unchanged.tokens, encoding = %(encoding)s
FROM unchanged WHERE message.id = unchanged.id
"""


def build_window(
    conversation: Conversation,
    newest: HistoryMessage,
    *,
    grounding: Sequence[PromptPassage] = (),
    look_up: LookUp | None = None,
    recalled: Sequence[RecalledPassage] | None = None,
    recall_error: str = "",
    steps: Sequence[HistoryMessage] = (),
    toolbox: Toolbox | None = None,
    policy: WindowPolicy | None = None,
    tightening: Decimal = Decimal(1),
    same_as: Window | None = None,
    text_so_far: HistoryMessage | None = None,
) -> Window:
    """Compute the window that answers *newest*, a user message stored or still a draft. Nothing is stored.

    *grounding* is best first, found by *look_up*; so are *recalled* passages of messages before the window, None where
    they were not looked up. *steps* are the tool calls made for it so far, with their results. *toolbox* holds the
    tools whose schemas are sent; without it they are the scenario's. *policy* stands for the scenario's own;
    *tightening* ≥ 1 divides the budget once more, after a provider has found the prompt too long. *same_as* is a window
    of the same request whose version of the summary this one has to have; else the current version is sent from the
    first window on that begins elsewhere than the last one, so that the prompt's beginning changes once for both.
    *text_so_far* is the reply to *newest* with what it says already, where it is continued.
    Raises `PromptError` or `PolicyFailed`.
    """
    context = conversation_context(conversation)
    policy = policy or conversation_policy(conversation, context)
    summaries = _summaries(conversation, policy, same_as)
    turn = _turn(
        conversation,
        newest,
        context,
        toolbox,
        grounding=grounding,
        look_up=look_up,
        recalled=recalled,
        recall_error=recall_error,
        steps=steps,
        text_so_far=text_so_far,
        summary=summaries.in_use,
    )
    compute = partial(_window, conversation, context=context, policy=policy, tightening=tightening)
    window = compute(turn, _history(conversation, newest))
    if summaries.current == summaries.in_use or not begins_elsewhere(window, conversation):
        return window
    return compute(replace(turn, summary=summaries.current), _history(conversation, newest))


def begins_elsewhere(window: Window, conversation: Conversation) -> bool:
    """Tell whether it begins at another message than the last one; without an anchor that was the first."""
    return window.record.first_position != (conversation.anchor_position or 0)


def check_it_fits(
    conversation: Conversation,
    newest: HistoryMessage,
    *,
    policy: WindowPolicy | None = None,
    text_so_far: HistoryMessage | None = None,
) -> None:
    """Raise the `PromptError` that sending *newest* would raise; what may be left out is not read."""
    context = conversation_context(conversation)
    policy = policy or conversation_policy(conversation, context)
    if policy.refuses_to_drop:
        history = _history(conversation, newest)
    else:
        history = History(_pins(conversation, newest), iter(()))
    turn = _turn(conversation, newest, context, text_so_far=text_so_far)
    _window(conversation, turn, history, context=context, policy=policy)


def _turn(
    conversation: Conversation,
    newest: HistoryMessage,
    context: ModelContext,
    toolbox: Toolbox | None = None,
    **given: Any,
) -> Turn:
    """Return the turn of *newest* with what the conversation says of it, and with what is *given* beside."""
    schemas = (toolbox or conversation_toolbox(conversation, context.configured)).schemas
    schema_tokens = count_tool_schemas(schemas, language_model=context.language_model)
    if schema := schema_of_answer(conversation):
        schema_tokens += context.count_text(schema)
    system_prompt, about_me, notes = system_texts(conversation)
    return Turn(
        newest,
        system_prompt=system_prompt,
        about_me=about_me,
        notes=notes,
        tool_schema_tokens=schema_tokens,
        has_tools=bool(schemas),
        recalls_other_conversations=conversation.recalls_other_conversations,
        forgotten_before=conversation.forgotten_before,
        with_smaller_pictures=_smaller_pictures(newest, context),
        **given,
    )


def _summaries(conversation: Conversation, policy: WindowPolicy, same_as: Window | None) -> WindowSummaries:
    if not policy.summary_limit_tokens or conversation.pk is None:
        return WindowSummaries()
    if same_as is None:
        return window_summaries(conversation)
    return same_summary(conversation, same_as.record.summary)


def _history(conversation: Conversation, newest: HistoryMessage) -> History:
    return read_history(
        conversation.pk,
        before=newest.position,
        forgotten_before=conversation.forgotten_before,
        anchor=_anchor(conversation, newest),
        has_pins=conversation.has_pins,
    )


def _anchor(conversation: Conversation, newest: HistoryMessage) -> int | None:
    """Return where the last window began; another version may have ended the path before that place."""
    anchor = conversation.anchor_position
    return anchor and min(anchor, newest.position)


def _pins(conversation: Conversation, newest: HistoryMessage) -> list[Row]:
    if not conversation.has_pins:
        return []
    return read_pins(conversation.pk, before=newest.position, forgotten_before=conversation.forgotten_before)


def _window(
    conversation: Conversation,
    turn: Turn,
    history: History,
    *,
    context: ModelContext,
    policy: WindowPolicy,
    tightening: Decimal = Decimal(1),
) -> Window:
    pictures = WindowPictures(context, policy)
    pictures.note_newest(turn.newest)
    counts = StoredCounts(context, pictures)
    try:
        return compute_window(
            replace(turn, pins=tuple(counts.of(history.pins))) if history.pins else turn,
            counts.of(history.newest_first),
            language_model=context.language_model,
            policy=policy,
            count_text=context.count_text,
            anchor=_anchor(conversation, turn.newest),
            calibration=context.calibration * tightening,
        )
    finally:
        counts.store()


def _smaller_pictures(newest: HistoryMessage, context: ModelContext) -> Callable[[int], HistoryMessage] | None:
    rule = context.configured.pictures
    return partial(with_smaller_pictures, newest, rule) if rule and newest.message.pictures else None


def draft_message(content: str, *, position: int, context: ModelContext) -> HistoryMessage:
    """Return *content* as the newest user message, counted; far above the context window only about."""
    message = PromptMessage("user", content)
    return HistoryMessage(position, message, context.draft_tokens(message))


def newest_with_pictures(
    newest: HistoryMessage,
    pictures: Sequence[SentPicture],
    *,
    conversation: Conversation,
    policy: WindowPolicy | None = None,
) -> HistoryMessage:
    """Return the newest message with its *pictures* as they are sent.

    Raises `TooManyPicturesForModel` or `PicturesTooLargeForModel`.
    """
    if not pictures:
        return newest
    policy = policy or conversation_policy(conversation)
    return WindowPictures(conversation_context(conversation), policy).of_newest(newest, pictures)


def stored_message(message: Message, context: ModelContext, *, conversation: Conversation) -> HistoryMessage:
    """Return a stored user message of *conversation* as the window knows it."""
    row = HistoryRow(
        id=message.pk,
        position=message.position,
        role=message.role,
        content=message.content,
        content_tokens=message.content_tokens,
        encoding=message.encoding,
    )
    counts = StoredCounts(context)
    [counted] = counts.of([row])
    counts.store()
    pictures = sent_pictures([message.pk]).get(message.pk, ()) if message.picture_ids else ()
    return newest_with_pictures(counted, pictures, conversation=conversation)


def text_so_far(reply: Message, context: ModelContext, *, length: int) -> HistoryMessage:
    """Return the first *length* characters of a reply that is continued, as the window knows it."""
    message = PromptMessage("assistant", reply.content[:length])
    return HistoryMessage(reply.position, message, context.content_tokens(message), id=reply.pk)


class StoredCounts:
    """The counts of one window's rows. What had to be counted again is kept until `store`, for one statement.

    *pictures* adds their pictures; without it they have none.
    """

    def __init__(self, context: ModelContext, pictures: WindowPictures | None = None) -> None:
        self._context = context
        self._pictures = pictures
        self._encoding = context.language_model.encoding
        self._counted_again: list[tuple[int, int, str, int]] = []

    def of(self, rows: Iterable[Row]) -> Iterator[HistoryMessage]:
        """Yield *rows* with their tokens in the language model's encoding."""
        new = tuple.__new__  # makes a named tuple, of all its fields, in half of the time that its class takes
        encoding, with_pictures = self._encoding, self._pictures and self._pictures.of_older
        for row in rows:
            id_, position, role, content, stored_tokens, counted_in, calls, call_id, excluded, failed, pictures, _ = row
            calls = tuple(map(PromptToolCall.from_json, json.loads(calls))) if calls else ()
            message = new(PromptMessage, (role, content, None, calls, call_id or None, (), None))
            tokens = stored_tokens
            if counted_in != encoding or (content and not tokens):  # a reply has 0 until it ends
                tokens = self._context.content_tokens(message)
                self._counted_again.append((id_, stored_tokens, counted_in, tokens))
            stored = new(HistoryMessage, (position, message, tokens, id_, excluded, failed, 0, ""))
            yield with_pictures(stored, pictures) if pictures and with_pictures else stored

    def store(self) -> None:
        if not self._counted_again:
            return
        ids, as_read, read_in, tokens = map(list, zip(*self._counted_again, strict=True))
        parameters = {"ids": ids, "as_read": as_read, "read_in": read_in, "tokens": tokens, "encoding": self._encoding}
        with connection.cursor() as cursor:
            cursor.execute(STORE_COUNTS, parameters)  # type: ignore[arg-type]  # psycopg writes lists as arrays
