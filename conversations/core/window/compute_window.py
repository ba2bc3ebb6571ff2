"""The window: which messages are sent to the language model, and the record of why.

    budget ≥ priming + tool schemas + system prompt + pins + older messages + newest message with its grounding + steps

A pure function. Filling goes in this order:

1. Must fit: system prompt, tool schemas, pins, the newest user message's content. If not, nothing is sent and a typed
   error says whose fault it is and by how many tokens.
2. Tool steps of this turn, each call with its results; results that are too large are cut and marked. Of very many, or
   with huge calls, the oldest are left out.
3. Grounding of the newest user message, up to its share of the budget: whole passages by rank.
4. Older messages, content only, in units that may not be split: the policy chooses which. One that refuses to drop any
   has them before results and grounding get what is left.

The prompt's order is most stable first, so that a provider's prefix cache keeps hitting: system prompt, pins, older
messages oldest first, the newest user message, tool steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from conversations.core.errors import (
    MessageTooLong,
    MessageTooLongForScenario,
    PinsTooLong,
    PromptError,
    SystemPromptTooLong,
    ToolSchemasTooLong,
    ToolStepsTooLong,
)
from conversations.core.prompt.grounding_text import Passage
from conversations.core.prompt.messages import Prompt, PromptMessage

from .budget import CountText, LanguageModel
from .history import HistoryMessage, sendable
from .older_messages import ChosenOlder, choose_older
from .pack_grounding import PackedGrounding, pack_grounding
from .policy import Room, WindowPolicy
from .recording import entries_of, grounding_record, left_out_steps
from .tool_steps import CALLS_SHARE, RESULTS_SHARE, SentStep, ToolSteps
from .window_record import LookUp, WindowRecord


@dataclass(frozen=True, slots=True)
class Turn:
    """What must be answered: the newest user message with all that has to go with it; *pins* are oldest first.

    *grounding* is best first, found by *look_up*, if there was anything to look in. *steps* are the tool calls made for
    it so far, each followed by its results, oldest first. Without *has_tools* the request goes without any.
    """

    newest: HistoryMessage
    system_prompt: str = ""
    grounding: Sequence[Passage] = ()
    pins: Sequence[HistoryMessage] = ()
    steps: Sequence[HistoryMessage] = ()
    tool_schema_tokens: int = 0
    has_tools: bool = True
    look_up: LookUp | None = None


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
    filling = _Filling(turn, language_model, policy, count_text, anchor, calibration)
    filling.take_what_must_fit()
    filling.take_calls()
    if policy.refuses_to_drop:
        filling.take_older(older)
        filling.take_results()
        filling.take_grounding()
    else:
        filling.take_results()
        filling.take_grounding()
        filling.take_older(older)
    return Window(filling.prompt(), filling.record())


@dataclass(slots=True)
class _Filling:
    """A window while it is being filled; *remaining_tokens* is what is left of the budget, never below 0."""

    turn: Turn
    language_model: LanguageModel
    policy: WindowPolicy
    count_text: CountText
    anchor: int | None
    calibration: Decimal
    budget_tokens: int = field(init=False)
    remaining_tokens: int = field(init=False)
    overhead_tokens: int = field(init=False)
    pins: tuple[HistoryMessage, ...] = field(init=False)
    lasting_tokens: int = 0
    system_tokens: int = 0
    grounding_limit_tokens: int = 0
    packed: PackedGrounding = field(default_factory=lambda: PackedGrounding("", 0))
    smallest_steps: ToolSteps = field(init=False)
    steps: tuple[SentStep, ...] = ()
    older_limit_tokens: int = 0
    older: ChosenOlder = field(default_factory=ChosenOlder)

    def __post_init__(self) -> None:
        self.budget_tokens = self.policy.budget_tokens(self.language_model, calibration=self.calibration)
        self.remaining_tokens = self.budget_tokens
        self.overhead_tokens = self.language_model.chat_format.overhead_tokens
        self.pins = sendable(self.turn.pins)

    def take_what_must_fit(self) -> None:
        if self.turn.system_prompt:
            self.system_tokens = self.overhead_tokens + self.count_text(self.turn.system_prompt)
        # Whoever is told to shorten something must be able to: room for a message of one token is never theirs.
        shortest_tokens = self.overhead_tokens + 1
        for error, tokens in (
            (PromptError, self.language_model.chat_format.priming_tokens),
            (SystemPromptTooLong, self.system_tokens),
            (ToolSchemasTooLong, self.turn.tool_schema_tokens),
            (PinsTooLong, sum(self.overhead_tokens + pin.content_tokens for pin in self.pins)),
        ):
            self.remaining_tokens -= tokens
            if (over := shortest_tokens - self.remaining_tokens) > 0:
                raise error(tokens_over=over)
        self.lasting_tokens = self.remaining_tokens
        self._take_newest()

    def _take_newest(self) -> None:
        """Take the newest message unless it is above what is left, or above the policy's own cap."""
        newest_tokens = self.overhead_tokens + self.turn.newest.content_tokens
        over = newest_tokens - self.remaining_tokens
        over_cap = self.turn.newest.content_tokens - (self.policy.message_cap_tokens or self.turn.newest.content_tokens)
        if max(over, over_cap) > 0:
            alone = over_cap > 0 or newest_tokens > self.budget_tokens - self.language_model.chat_format.priming_tokens
            raise (MessageTooLong if alone else MessageTooLongForScenario)(tokens_over=max(over, over_cap))
        self.remaining_tokens -= newest_tokens

    def take_calls(self) -> None:
        """Take the steps at their smallest: the calls, and of each result the mark that it was cut."""
        steps = ToolSteps(self.turn.steps, self.language_model.chat_format, self.count_text)
        self.smallest_steps = steps.newest_within(int(self.remaining_tokens * CALLS_SHARE))
        if (over := self.smallest_steps.smallest_tokens - self.remaining_tokens) > 0:
            raise ToolStepsTooLong(tokens_over=over)
        self.remaining_tokens -= self.smallest_steps.smallest_tokens

    def take_results(self) -> None:
        """Give the results a share of what is left."""
        steps = self.smallest_steps
        self.steps = steps.fitted(int(self.remaining_tokens * RESULTS_SHARE))
        tokens = sum(self.overhead_tokens + step.message.content_tokens for step in self.steps)
        self.remaining_tokens -= tokens - steps.smallest_tokens

    def take_grounding(self) -> None:
        share_tokens = int(self.budget_tokens * Decimal(str(self.policy.grounding_share)))
        self.grounding_limit_tokens = min(share_tokens, self.remaining_tokens)
        self.packed = pack_grounding(
            self.turn.newest.message.content,
            self.turn.grounding,
            limit_tokens=self.grounding_limit_tokens,
            count_text=self.count_text,
        )
        self.remaining_tokens -= self.packed.tokens

    def take_older(self, older: Iterable[HistoryMessage]) -> None:
        self.older_limit_tokens = self.remaining_tokens
        self.older = choose_older(
            older,
            policy=self.policy,
            room=Room(self.remaining_tokens, self.anchor),
            pinned={pin.position for pin in self.pins},
            overhead_tokens=self.overhead_tokens,
            lasting_tokens=self.lasting_tokens,
            has_tools=self.turn.has_tools,
        )
        self.remaining_tokens -= self.older.tokens

    def prompt(self) -> Prompt:
        turn = self.turn
        system = (PromptMessage("system", turn.system_prompt),) if turn.system_prompt else ()
        return (
            *system,
            *(pin.message for pin in self.pins),
            *(message.message for message in self.older.messages),
            turn.newest.message._replace(content=self.packed.text),
            *(step.message.message for step in self.steps),
        )

    def _first_position(self) -> int:
        """Return where the seen part begins.

        Pins that touch it are part of it, and so is what is never sent, such as excluded messages and large tool turns:
        no room would bring them back, and unpinned or included again they must not lie behind the anchor.
        """
        first_position = self.older.messages[0].position if self.older.messages else self.turn.newest.position
        accounted_for = {pin.position for pin in self.pins} | self.older.unsendable
        while first_position - 1 in accounted_for:
            first_position -= 1
        return first_position

    def record(self) -> WindowRecord:
        newest = self.turn.newest
        first_position = self._first_position()
        policy = self.policy
        return WindowRecord(
            language_model=self.language_model.name,
            encoding=self.language_model.encoding,
            context_window_tokens=self.language_model.context_window_tokens,
            reply_reserve_tokens=policy.reply_reserve_tokens or self.language_model.reply_reserve_tokens,
            budget_tokens=self.budget_tokens,
            prompt_tokens=self.budget_tokens - self.remaining_tokens,
            priming_tokens=self.language_model.chat_format.priming_tokens,
            tool_schema_tokens=self.turn.tool_schema_tokens,
            calibration=str(self.calibration),
            policy=policy.to_json(),
            entries=entries_of(
                system_tokens=self.system_tokens,
                pins=self.pins,
                older=self.older.messages,
                newest=newest._replace(content_tokens=newest.content_tokens + self.packed.tokens),
                steps=self.steps,
                overhead_tokens=self.overhead_tokens,
            ),
            first_position=first_position,
            unseen_messages=first_position - sum(pin.position < first_position for pin in self.pins),
            older_limit_tokens=self.older_limit_tokens,
            anchor=self.anchor,
            left_out=(*left_out_steps(self.turn.steps, self.steps, self.overhead_tokens), *self.older.left_out),
            left_out_unnamed=self.older.left_out_unnamed,
            grounding=grounding_record(
                self.turn.grounding,
                self.packed,
                limit_tokens=self.grounding_limit_tokens,
                look_up=self.turn.look_up,
            ),
        )
