"""The window: which messages are sent to the language model, and the record of why.

    budget ≥ priming + tool schemas + system prompt + notes + pins + older messages
             + newest message with its grounding and what is recalled + steps + text so far

A pure function. The budget is filled in this order:

1. Must fit: system prompt, tool schemas, the user's notes, pins, the newest user message's content and pictures, these
   in low detail or scaled down if they have to be. If not, nothing is sent and a typed error says whose fault it is
   and by how many tokens. The summary of what has left the window comes with them, but is left out where it would not
   fit, would take more than half of what older messages could have, or all is in view. Pictures of pins and older
   messages are part of these: they come and go with them.
2. Tool steps of this turn, each call with its results; results that are too large are truncated and marked. Of very
   many, or with huge calls, the oldest are left out; of the newest the calls' arguments are truncated if they have to.
   Of a reply that is continued, what it says so far (`text_so_far`), in front of the results: all of it, or its end.
3. Grounding of the newest user message, up to its share of the budget: passages by rank, of which the last
   may be truncated at a sentence.
4. Older messages, content only, in units that may not be split: the policy chooses which. With a policy that refuses to
   drop any they come before results and grounding, which get what is left.
5. Recall: passages of messages before those, by falling score, in the share of the room for older messages that the
   policy keeps free for them, and in what the older messages leave because the next one is too large. The share is
   kept free whatever is found, so that the window's beginning, and with it the provider's prefix cache, does not
   depend on the question. A policy that refills every window has no cache to lose: there older messages get what
   recall has left.

The prompt's order is most stable first, so that a provider's prefix cache keeps hitting: system prompt, notes, pins,
summary, older messages oldest first, the newest user message with its grounding and what is recalled, tool steps, and
the text so far with the request to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from conversations.core.errors import (
    AboutMeTooLong,
    MessageTooLong,
    MessageTooLongForScenario,
    NotesTooLong,
    PicturesTooLong,
    PinsTooLong,
    PromptError,
    SystemPromptTooLong,
    TextSoFarTooLong,
    ToolSchemasTooLong,
    ToolStepsTooLong,
)
from conversations.core.prompt.grounding_text import PromptPassage, RecalledPiece, render_question
from conversations.core.prompt.messages import Prompt, PromptMessage
from conversations.core.prompt.system_text import SystemTexts
from conversations.core.recall.recalled_passage import RecalledPassage

from .budget import CountText, LanguageModel, whole_share
from .history import HistoryMessage, Reread, sendable
from .older_messages import ChosenOlder, choose_older
from .pack_grounding import PackedGrounding, pack_grounding
from .pack_recall import PackedRecall, pack_recall
from .policies import Room, WindowPolicy
from .summary import WindowSummary
from .system_message import SystemTokens, count_system
from .text_so_far import REQUEST_MESSAGE, SentTextSoFar, TextSoFar
from .tool_steps import CALLS_SHARE, RESULTS_SHARE, SentStep, ToolSteps
from .window_record import (
    LookUp,
    SummaryRecord,
    WindowRecord,
    record_entries,
    record_grounding,
    record_left_out_steps,
    record_recall,
)

SHARE_BESIDE_TOOLS = Fraction(1, 2)  # of the room, for pictures that have to be scaled down
SUMMARY_SHARE = Fraction(1, 2)  # of what older messages could have: a summary stands for them, and never ousts them


@dataclass(frozen=True, slots=True)
class Turn:
    """The newest user message, which is to be answered, and all that has to be sent with it; *pins* are oldest first.

    *grounding* is best first, found by *look_up*, if there was anything to look in. *steps* are the tool calls made for
    it so far, each followed by its results, oldest first. *has_tools* is false for a request without tools. *recalled*
    are passages of older messages, best first; None where they were not looked up, *recall_error* the code of why.
    *recalls_other_conversations* tells whether some may be from there: then there is something to recall from the first
    message on. Nothing below position *forgotten_before* is sent: a window that begins there holds all that it may.
    *summary* stands for what has left the window, if it is kept.
    *about_me* and *notes* are the user's own, about themselves and on this conversation. *with_smaller_pictures*
    returns the newest message with pictures that take at most so many tokens, or as few as they can: for a window that
    does not hold it otherwise. *text_so_far* is the reply to it with what it says already, where it is to be continued.
    """

    newest: HistoryMessage
    system_prompt: str = ""
    grounding: Sequence[PromptPassage] = ()
    pins: Sequence[HistoryMessage] = ()
    steps: Sequence[HistoryMessage] = ()
    tool_schema_tokens: int = 0
    has_tools: bool = True
    look_up: LookUp | None = None
    recalled: Sequence[RecalledPassage] | None = None
    recall_error: str = ""
    recalls_other_conversations: bool = False
    forgotten_before: int = 0
    summary: WindowSummary | None = None
    about_me: str = ""
    notes: str = ""
    with_smaller_pictures: Callable[[int], HistoryMessage] | None = None
    text_so_far: HistoryMessage | None = None

    @property
    def system_texts(self) -> SystemTexts:
        return SystemTexts(self.system_prompt, self.about_me, self.notes)


@dataclass(frozen=True, slots=True)
class Window:
    """The prompt to send, and the record of how it was chosen."""

    prompt: Prompt
    record: WindowRecord


def compute_window(
    turn: Turn,
    older: Iterable[HistoryMessage],
    *,
    language_model: LanguageModel,
    policy: WindowPolicy,
    count_text: CountText,
    anchor: int | None = None,
    calibration: Decimal = Decimal(1),
) -> Window:
    """Choose the prompt for *turn* from *older* messages, which come newest first and are read only as far as needed.

    *anchor* is the position at which the conversation's last window began, the `first_position` of its record. Raises a
    `PromptError` when what must be in does not fit, `PolicyFailed` when the policy chose what can't be sent.
    """
    budget_tokens = policy.budget_tokens(language_model, calibration=calibration)
    inputs = _Inputs(turn, language_model, policy, count_text, anchor, calibration, budget_tokens)
    fixed = _fit_fixed_part(inputs)
    if fixed.newest is not turn.newest:
        turn = replace(turn, newest=fixed.newest)
        inputs = replace(inputs, turn=turn)
    shortest_text_tokens = _count_shortest_text(inputs)
    if (over := shortest_text_tokens - fixed.left_tokens) > 0:
        raise TextSoFarTooLong(tokens_over=over)
    calls = _fit_calls(inputs, fixed.left_tokens - shortest_text_tokens)
    calls_tokens = calls.smallest_tokens
    summary = _fit_summary(inputs, fixed, fixed.left_tokens - shortest_text_tokens - calls_tokens)
    left_tokens = fixed.left_tokens - calls_tokens - (summary.tokens if summary else 0)
    if policy.refuses_to_drop:
        chosen = _choose_older(inputs, fixed, older, Room(left_tokens - shortest_text_tokens, inputs.kept_anchor))
        text = _fit_text(inputs, left_tokens - chosen.tokens)
        left_tokens -= text.tokens if text else 0
        material = _fit_material(inputs, calls, left_tokens - chosen.tokens)
        recall = PackedRecall(material.grounding.text)
    else:
        text = _fit_text(inputs, left_tokens)
        left_tokens -= text.tokens if text else 0
        material = _fit_material(inputs, calls, left_tokens)
        chosen, recall = _choose_and_recall(inputs, fixed, older, material.grounding, left_tokens - material.tokens)
    prompt_tokens = budget_tokens - left_tokens + material.tokens + chosen.tokens + recall.tokens
    if summary and summary.tokens and _first_position(turn, fixed, chosen) <= turn.forgotten_before:
        prompt_tokens -= summary.tokens
        summary = replace(summary, tokens=0, left_out="all_in_view")
    return Window(
        _render(turn, fixed, summary, chosen, material, recall, text),
        _record(inputs, fixed, summary, chosen, material, recall, text, prompt_tokens=prompt_tokens),
    )


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The arguments of `compute_window`, with the budget that follows from them."""

    turn: Turn
    language_model: LanguageModel
    policy: WindowPolicy
    count_text: CountText
    anchor: int | None
    calibration: Decimal
    budget_tokens: int

    @property
    def overhead_tokens(self) -> int:
        return self.language_model.chat_format.overhead_tokens

    @property
    def kept_anchor(self) -> int | None:
        """The anchor as a policy is told it: None if it lies in what is forgotten."""
        return self.anchor if (self.anchor or 0) > self.turn.forgotten_before else None


@dataclass(frozen=True, slots=True)
class _FixedPart:
    """The part of a prompt that must fit, and how much of the budget it leaves: never less than 0.

    *lasting_tokens* is left of any request of the conversation, before its newest message; *left_tokens* behind it. The
    pictures of *newest* may be smaller than they were.
    """

    system: SystemTokens
    pins: tuple[HistoryMessage, ...]
    newest: HistoryMessage
    lasting_tokens: int
    left_tokens: int


@dataclass(frozen=True, slots=True)
class _Material:
    """The tool steps with their results and the grounding; *tokens* is what they take above the smallest steps."""

    steps: tuple[SentStep, ...]
    grounding: PackedGrounding
    tokens: int


def _fit_fixed_part(inputs: _Inputs) -> _FixedPart:
    """Subtract from the budget what must fit, piece by piece. Raises the `PromptError` of the first that does not."""
    turn, chat_format = inputs.turn, inputs.language_model.chat_format
    overhead_tokens = inputs.overhead_tokens
    pins = sendable(turn.pins) if turn.pins else ()
    system = count_system(turn.system_texts, overhead_tokens=overhead_tokens, count_text=inputs.count_text)
    # A user who is told to shorten something must be able to: room for a message of one token is never theirs.
    shortest_tokens = overhead_tokens + 1
    left_tokens = inputs.budget_tokens
    for error, tokens in (
        (PromptError, chat_format.priming_tokens),
        (SystemPromptTooLong, system.system_prompt),
        (ToolSchemasTooLong, turn.tool_schema_tokens),
        (AboutMeTooLong, system.about_me),
        (NotesTooLong, system.notes),
        (PinsTooLong, sum(overhead_tokens + pin.sent_tokens for pin in pins)),
    ):
        left_tokens -= tokens
        if (over := shortest_tokens - left_tokens) > 0:
            raise error(tokens_over=over)
    room_tokens = left_tokens - overhead_tokens - turn.newest.content_tokens
    newest = _fit_pictures(turn, room_tokens - _count_shortest_text(inputs))
    _check_newest(inputs, newest, left_tokens)
    return _FixedPart(system, pins, newest, left_tokens, left_tokens - overhead_tokens - newest.sent_tokens)


def _fit_pictures(turn: Turn, room_tokens: int) -> HistoryMessage:
    """Return the newest message, with smaller pictures if these take more than *room_tokens*.

    Where tools can be called, these leave half of the room for calls and results, as far as they can.
    """
    if turn.newest.picture_tokens <= room_tokens or turn.with_smaller_pictures is None:
        return turn.newest
    return turn.with_smaller_pictures(int(room_tokens * SHARE_BESIDE_TOOLS) if turn.tool_schema_tokens else room_tokens)


def _check_newest(inputs: _Inputs, newest: HistoryMessage, left_tokens: int) -> None:
    """Refuse a newest message that is above what is left, or above the policy's own cap."""
    content_tokens, picture_tokens = newest.content_tokens, newest.picture_tokens
    newest_tokens = inputs.overhead_tokens + content_tokens + picture_tokens
    over = newest_tokens - left_tokens
    over_cap = content_tokens - (inputs.policy.message_cap_tokens or content_tokens)
    if max(over, over_cap) > 0:
        smallest_prompt_tokens = newest_tokens + inputs.language_model.chat_format.priming_tokens
        if newest.message.pictures and over_cap <= 0 and over <= picture_tokens:
            raise PicturesTooLong(tokens_over=over, picture_tokens=picture_tokens)
        is_alone_too_long = over_cap > 0 or smallest_prompt_tokens > inputs.budget_tokens
        raise (MessageTooLong if is_alone_too_long else MessageTooLongForScenario)(tokens_over=max(over, over_cap))


def _fit_summary(inputs: _Inputs, fixed: _FixedPart, left_tokens: int) -> SummaryRecord | None:
    """Return what there is of a summary, and whether it is sent; None without one, or where the policy keeps none."""
    summary, cap_tokens = inputs.turn.summary, inputs.policy.summary_limit_tokens
    if summary is None or not cap_tokens:
        return None
    tokens = inputs.overhead_tokens + summary.content_tokens
    record = SummaryRecord(summary.id, summary.version, summary.covers_before, tokens)
    if tokens > cap_tokens:
        return replace(record, tokens=0, left_out="above_cap")
    if tokens > min(left_tokens, int(fixed.lasting_tokens * SUMMARY_SHARE)):
        return replace(record, tokens=0, left_out="does_not_fit")
    return record


def _text_so_far(inputs: _Inputs) -> TextSoFar | None:
    reply = inputs.turn.text_so_far
    return TextSoFar(reply, inputs.language_model.chat_format, inputs.count_text) if reply else None


def _count_shortest_text(inputs: _Inputs) -> int:
    """Count the least that is sent of a reply that is continued, 0 where none is."""
    text = _text_so_far(inputs)
    return text.smallest_tokens if text else 0


def _fit_text(inputs: _Inputs, limit_tokens: int) -> SentTextSoFar | None:
    text = _text_so_far(inputs)
    return text.fit(limit_tokens) if text else None


def _fit_calls(inputs: _Inputs, left_tokens: int) -> ToolSteps:
    """Return the steps that are sent, at their smallest: the calls, and of each result the mark that it is truncated.

    Raises `ToolStepsTooLong`.
    """
    steps = ToolSteps(inputs.turn.steps, inputs.language_model.chat_format, inputs.count_text)
    if not steps.messages:
        return steps
    calls_tokens = whole_share(left_tokens, CALLS_SHARE)
    kept = steps.newest_within(calls_tokens)
    if kept.smallest_tokens > left_tokens:
        kept = kept.with_truncated_arguments(calls_tokens)
    if (over := kept.smallest_tokens - left_tokens) > 0:
        raise ToolStepsTooLong(tokens_over=over)
    return kept


def _fit_material(inputs: _Inputs, calls: ToolSteps, left_tokens: int) -> _Material:
    """Give the results a share of what is left, and the grounding its share of the budget as far as that is left."""
    steps: tuple[SentStep, ...] = ()
    results_tokens = 0
    if calls.messages:
        steps = calls.fit(int(left_tokens * RESULTS_SHARE))
        sent_tokens = sum(inputs.overhead_tokens + step.message.content_tokens for step in steps)
        results_tokens = sent_tokens - calls.smallest_tokens
    share_tokens = int(inputs.budget_tokens * Decimal(str(inputs.policy.grounding_share)))
    grounding = pack_grounding(
        inputs.turn.newest.message.content,
        inputs.turn.grounding,
        limit_tokens=min(share_tokens, left_tokens - results_tokens),
        count_text=inputs.count_text,
    )
    return _Material(steps, grounding, results_tokens + grounding.tokens)


def _choose_and_recall(
    inputs: _Inputs,
    fixed: _FixedPart,
    older: Iterable[HistoryMessage],
    grounding: PackedGrounding,
    room_tokens: int,
) -> tuple[ChosenOlder, PackedRecall]:
    """Choose older messages, and of those before them what is recalled."""
    recall_tokens = inputs.policy.recall_tokens(room_tokens)
    if not recall_tokens:
        return _choose_older(inputs, fixed, older, Room(room_tokens, inputs.kept_anchor)), PackedRecall(grounding.text)
    older = Reread(older) if inputs.policy.always_refills else older

    def recall_before(chosen: ChosenOlder, limit_tokens: int) -> PackedRecall:
        return _recall(inputs, fixed, chosen, grounding, min(limit_tokens, room_tokens - chosen.tokens))

    chosen = _choose_older(inputs, fixed, older, Room(room_tokens, inputs.kept_anchor, recall_tokens))
    limit_tokens = recall_tokens + chosen.unusable_tokens
    recall = recall_before(chosen, limit_tokens)
    if inputs.policy.always_refills and recall.limit_tokens:
        chosen = _choose_older(inputs, fixed, older, Room(room_tokens - recall.tokens, inputs.kept_anchor))
        recall = recall_before(chosen, limit_tokens)
    return chosen, recall


def _choose_older(inputs: _Inputs, fixed: _FixedPart, older: Iterable[HistoryMessage], room: Room) -> ChosenOlder:
    return choose_older(
        older,
        policy=inputs.policy,
        room=room,
        pinned={pin.position for pin in fixed.pins},
        overhead_tokens=inputs.overhead_tokens,
        lasting_tokens=fixed.lasting_tokens,
        has_tools=inputs.turn.has_tools,
    )


def _recall(
    inputs: _Inputs, fixed: _FixedPart, chosen: ChosenOlder, grounding: PackedGrounding, limit_tokens: int
) -> PackedRecall:
    """Pack what was found before the window's beginning and is not in it as a pin, or in other conversations."""
    turn, first_position = inputs.turn, _first_position(inputs.turn, fixed, chosen)
    if first_position <= turn.forgotten_before and not turn.recalls_other_conversations:
        return PackedRecall(grounding.text)
    kept_out = {pin.position for pin in fixed.pins} | chosen.unsendable

    def may_be_sent(found: RecalledPassage) -> bool:
        if found.conversation is not None:
            return turn.recalls_other_conversations
        is_before = turn.forgotten_before <= found.position < first_position
        return is_before and found.position not in kept_out

    def render(pieces: Sequence[RecalledPiece]) -> str:
        content, left_out = turn.newest.message.content, len(grounding.left_out)
        return render_question(content, grounding.included, left_out=left_out, recalled=pieces)

    return pack_recall(
        grounding.text,
        [found for found in turn.recalled or () if may_be_sent(found)],
        render=render,
        limit_tokens=limit_tokens,
        count_text=inputs.count_text,
    )


def _render(
    turn: Turn,
    fixed: _FixedPart,
    summary: SummaryRecord | None,
    chosen: ChosenOlder,
    material: _Material,
    recall: PackedRecall,
    text: SentTextSoFar | None,
) -> Prompt:
    system_text = turn.system_texts.render()
    system = (PromptMessage("system", system_text),) if system_text else ()
    question = turn.newest.message
    if recall.text != question.content:
        question = question._replace(content=recall.text)
    return (
        *system,
        *(pin.message for pin in fixed.pins),
        *((turn.summary.message,) if turn.summary and summary and summary.tokens else ()),
        *[message.message for message in chosen.messages],
        question,
        *(step.message.message for step in material.steps),
        *((text.message.message, REQUEST_MESSAGE) if text else ()),
    )


def _first_position(turn: Turn, fixed: _FixedPart, chosen: ChosenOlder) -> int:
    """Return where the seen part begins.

    Pins that touch it are part of it, and so is what is never sent, such as excluded messages and large tool turns:
    no room would bring them back, and unpinned or included again they must not lie behind the anchor.
    """
    first_position = chosen.messages[0].position if chosen.messages else turn.newest.position
    accounted_for = {pin.position for pin in fixed.pins} | chosen.unsendable
    while first_position - 1 in accounted_for:
        first_position -= 1
    return first_position


def _record(
    inputs: _Inputs,
    fixed: _FixedPart,
    summary: SummaryRecord | None,
    chosen: ChosenOlder,
    material: _Material,
    recall: PackedRecall,
    text: SentTextSoFar | None,
    *,
    prompt_tokens: int,
) -> WindowRecord:
    turn, language_model, policy = inputs.turn, inputs.language_model, inputs.policy
    first_position = _first_position(turn, fixed, chosen)
    left_out_steps = record_left_out_steps(turn.steps, material.steps, inputs.overhead_tokens)
    return WindowRecord(
        language_model=language_model.name,
        encoding=language_model.encoding,
        context_window_tokens=language_model.context_window_tokens,
        reply_reserve_tokens=policy.reply_reserve_tokens or language_model.reply_reserve_tokens,
        budget_tokens=inputs.budget_tokens,
        prompt_tokens=prompt_tokens,
        priming_tokens=language_model.chat_format.priming_tokens,
        tool_schema_tokens=turn.tool_schema_tokens,
        calibration=str(inputs.calibration),
        policy=policy.to_json(),
        entries=record_entries(
            system=fixed.system,
            pins=fixed.pins,
            summary=summary,
            older=chosen.messages,
            newest=turn.newest,
            looked_up_tokens=material.grounding.tokens + recall.tokens,
            steps=material.steps,
            text_so_far=text,
            overhead_tokens=inputs.overhead_tokens,
        ),
        first_position=first_position,
        messages_before_window=first_position - sum(pin.position < first_position for pin in fixed.pins),
        older_limit_tokens=chosen.limit_tokens,
        forgotten_before=turn.forgotten_before,
        anchor=inputs.anchor,
        left_out=(*left_out_steps, *chosen.left_out),
        left_out_unnamed=chosen.left_out_unnamed,
        grounding=record_grounding(turn.grounding, material.grounding, look_up=turn.look_up),
        recall=record_recall(
            recall, inputs.count_text, is_looked_up=turn.recalled is not None, error=turn.recall_error
        ),
        summary=summary,
        wire=language_model.prompt_format.wire,
        breakpoints=language_model.prompt_format.breakpoints,
    )
