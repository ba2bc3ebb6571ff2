"""The window: which messages are sent to the language model, and the record of why.

    budget ≥ priming + tool schemas + system prompt + pins + older messages + newest message with its grounding

A pure function. Filling goes in this order:

1. Must fit: system prompt, tool schemas, pins, the newest user message's content. If not, nothing is sent and a typed
   error says whose fault it is and by how many tokens.
2. Grounding of the newest user message, up to its share of the budget: whole passages by rank.
3. Older messages, newest first, content only, in units that may not be split, until one does not fit.

The prompt's order is most stable first, so that a provider's prefix cache keeps hitting: system prompt, pins, older
messages oldest first, the newest user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal

from .budget import CountText, LanguageModel, budget_tokens
from .errors import (
    ConversationTooLong,
    MessageTooLong,
    PinsTooLong,
    PromptError,
    SystemPromptTooLong,
    ToolSchemasTooLong,
)
from .grounding import PackedGrounding, pack_grounding
from .history import HistoryMessage, Unit, group_into_units, sendable
from .messages import Prompt, PromptMessage
from .policy import FULL, LAST_N_MESSAGES, Policy
from .prompt import Passage
from .record import (
    EntryKind,
    GroundingPassage,
    GroundingRecord,
    LeftOutMessage,
    LeftOutReason,
    WindowEntry,
    WindowRecord,
)

# A window that skips what is too large would otherwise read a whole conversation to fill its last few tokens.
MOST_SKIPPED = 200


@dataclass(frozen=True, slots=True)
class Turn:
    """What must be answered: the newest user message with all that has to go with it; *pins* are oldest first."""

    newest: HistoryMessage
    system_prompt: str = ""
    grounding: Sequence[Passage] = ()
    pins: Sequence[HistoryMessage] = ()
    tool_schema_tokens: int = 0


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
    policy: Policy,
    count_text: CountText,
    calibration: Decimal = Decimal(1),
) -> Window:
    """Choose the prompt for *turn* from *older* messages, which come newest first and are read only as far as needed.

    Raises a `PromptError` when what must be in does not fit.
    """
    filling = _Filling(
        turn,
        pins=sendable(turn.pins),
        language_model=language_model,
        policy=policy,
        count_text=count_text,
        budget_tokens=budget_tokens(language_model, cap_tokens=policy.cap_tokens, calibration=calibration),
    )
    filling.take_what_must_fit()
    filling.take_grounding()
    filling.take_older(older)
    return Window(filling.prompt(), filling.record(calibration))


@dataclass(slots=True)
class _Filling:
    """A window while it is being filled; *remaining_tokens* is what is left of the budget, never below 0."""

    turn: Turn
    pins: tuple[HistoryMessage, ...]
    language_model: LanguageModel
    policy: Policy
    count_text: CountText
    budget_tokens: int
    remaining_tokens: int = 0
    system_tokens: int = 0
    grounding_limit_tokens: int = 0
    packed: PackedGrounding = field(default_factory=lambda: PackedGrounding("", 0))
    older: list[HistoryMessage] = field(default_factory=list)  # newest first
    left_out: list[LeftOutMessage] = field(default_factory=list)

    def take_what_must_fit(self) -> None:
        turn, chat_format = self.turn, self.language_model.chat_format
        if turn.system_prompt:
            self.system_tokens = chat_format.overhead_tokens + self.count_text(turn.system_prompt)
        # Whoever is told to shorten something must be able to: room for a message of one token is never theirs.
        shortest_tokens = chat_format.overhead_tokens + 1
        self.remaining_tokens = self.budget_tokens
        for error, tokens in (
            (PromptError, chat_format.priming_tokens),
            (SystemPromptTooLong, self.system_tokens),
            (ToolSchemasTooLong, turn.tool_schema_tokens),
            (PinsTooLong, sum(pin.tokens(chat_format) for pin in self.pins)),
        ):
            self.remaining_tokens -= tokens
            if (over := shortest_tokens - self.remaining_tokens) > 0:
                raise error(tokens_over=over)
        self._take_newest()

    def _take_newest(self) -> None:
        """Take the newest message unless it is above what is left, or above the policy's own cap."""
        newest_tokens = self.turn.newest.tokens(self.language_model.chat_format)
        over = newest_tokens - self.remaining_tokens
        if self.policy.message_cap_tokens is not None:
            over = max(over, self.turn.newest.content_tokens - self.policy.message_cap_tokens)
        if over > 0:
            raise MessageTooLong(tokens_over=over)
        self.remaining_tokens -= newest_tokens

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
        pinned_positions = {pin.position for pin in self.pins}
        for unit in group_into_units(older):
            if pinned_positions.issuperset(unit.positions):
                continue
            tokens = unit.tokens(self.language_model.chat_format)
            reason = self._reason_to_leave_out(unit, tokens)
            if reason is None:
                self._take(unit, tokens)
                continue
            self._leave_out(unit, reason)
            if self._ends_with(reason):
                break
        if self.policy.name == FULL:
            self._refuse_to_drop()

    def _ends_with(self, reason: LeftOutReason) -> bool:
        """Return whether the window is at its end when a message is left out for *reason*.

        The policy `full` goes on, to say how much too long the conversation is.
        """
        if self.policy.name == FULL:
            return False
        if reason == "oversized":
            return sum(message.reason == "oversized" for message in self.left_out) >= MOST_SKIPPED
        return reason in ("policy", "does_not_fit")

    def _reason_to_leave_out(self, unit: Unit, tokens: int) -> LeftOutReason | None:
        if flaw := unit.flaw:
            return flaw
        if self.policy.name == LAST_N_MESSAGES and self._messages_with(unit) > self.policy.last_messages:
            return "policy"
        if tokens > self.remaining_tokens:
            return "oversized" if self.policy.skip_oversized else "does_not_fit"
        return None

    def _messages_with(self, unit: Unit) -> int:
        return 1 + len(self.older) + len(unit.messages)

    def _take(self, unit: Unit, tokens: int) -> None:
        self.older += reversed(unit.messages)
        self.remaining_tokens -= tokens

    def _leave_out(self, unit: Unit, reason: LeftOutReason) -> None:
        chat_format = self.language_model.chat_format
        self.left_out += [
            LeftOutMessage(message.id, message.position, message.tokens(chat_format), reason)
            for message in reversed(unit.messages)
        ]

    def _refuse_to_drop(self) -> None:
        dropped_tokens = sum(m.tokens for m in self.left_out if m.reason in ("does_not_fit", "oversized"))
        if dropped_tokens:
            raise ConversationTooLong(tokens_over=dropped_tokens - self.remaining_tokens)

    def prompt(self) -> Prompt:
        turn = self.turn
        system = (PromptMessage("system", turn.system_prompt),) if turn.system_prompt else ()
        pins = tuple(pin.message for pin in self.pins)
        older = tuple(message.message for message in reversed(self.older))
        return (*system, *pins, *older, turn.newest.message._replace(content=self.packed.text))

    def record(self, calibration: Decimal) -> WindowRecord:
        chat_format = self.language_model.chat_format
        first_position = min((m.position for m in self.older), default=self.turn.newest.position)
        return WindowRecord(
            language_model=self.language_model.name,
            encoding=self.language_model.encoding,
            context_window_tokens=self.language_model.context_window_tokens,
            reply_reserve_tokens=self.language_model.reply_reserve_tokens,
            budget_tokens=self.budget_tokens,
            prompt_tokens=self.budget_tokens - self.remaining_tokens,
            priming_tokens=chat_format.priming_tokens,
            tool_schema_tokens=self.turn.tool_schema_tokens,
            calibration=str(calibration),
            policy=asdict(self.policy),
            entries=tuple(self._entries()),
            first_position=first_position,
            unseen_messages=first_position - sum(pin.position < first_position for pin in self.pins),
            left_out=tuple(self.left_out),
            grounding=self._grounding_record(),
        )

    def _entries(self) -> list[WindowEntry]:
        system = [WindowEntry("system", "system", self.system_tokens)] if self.turn.system_prompt else []
        return [
            *system,
            *(self._entry("pin", pin) for pin in self.pins),
            *(self._entry("older", message) for message in reversed(self.older)),
            self._entry("newest", self.turn.newest, extra_tokens=self.packed.tokens),
        ]

    def _entry(self, kind: EntryKind, message: HistoryMessage, *, extra_tokens: int = 0) -> WindowEntry:
        tokens = message.tokens(self.language_model.chat_format) + extra_tokens
        return WindowEntry(kind, message.message.role, tokens, message.id, message.position)

    def _grounding_record(self) -> GroundingRecord:
        included = len(self.packed.included)
        passages = [
            GroundingPassage(number, passage.score, cut=self.packed.last_is_cut and number == included)
            for number, passage in enumerate(self.turn.grounding, start=1)
        ]
        return GroundingRecord(
            tokens=self.packed.tokens,
            limit_tokens=self.grounding_limit_tokens,
            included=tuple(passages[:included]),
            left_out=tuple(passages[included:]),
        )
