"""What the window record says of the messages and passages that were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conversations.core.prompt.grounding_text import Passage

from .history import HistoryMessage
from .pack_grounding import PackedGrounding
from .tool_steps import SentStep
from .window_record import EntryKind, GroundingPassage, GroundingRecord, LeftOutMessage, LookUp, WindowEntry


def entries_of(
    *,
    system_tokens: int,
    pins: Sequence[HistoryMessage],
    older: Sequence[HistoryMessage],
    newest: HistoryMessage,
    steps: Sequence[SentStep],
    overhead_tokens: int,
) -> tuple[WindowEntry, ...]:
    """Return an entry for each message of the prompt, in prompt order; no system prompt has 0 tokens."""

    def entry(kind: EntryKind, message: HistoryMessage, cut_to: int | None = None) -> WindowEntry:
        tokens = overhead_tokens + message.content_tokens
        return WindowEntry(kind, message.message.role, tokens, message.id, message.position, cut_to)

    return (
        *([WindowEntry("system", "system", system_tokens)] if system_tokens else []),
        *(entry("pin", pin) for pin in pins),
        *(entry("older", message) for message in older),
        entry("newest", newest),
        *(entry("tool_step", step.message, step.cut_to) for step in steps),
    )


def left_out_steps(
    steps: Sequence[HistoryMessage], sent: Sequence[SentStep], overhead_tokens: int
) -> Iterator[LeftOutMessage]:
    """Yield the steps of this turn that were not sent, newest first: those before the first that was."""
    for step in reversed(steps[: len(steps) - len(sent)]):
        yield LeftOutMessage(step.id, step.position, overhead_tokens + step.content_tokens, "does_not_fit")


def grounding_record(
    candidates: Sequence[Passage], packed: PackedGrounding, *, limit_tokens: int, look_up: LookUp | None = None
) -> GroundingRecord:
    """Return what became of the *candidates*, which are best first, and how they were looked up."""
    included = len(packed.included)
    passages = [
        GroundingPassage(passage.number or place, passage.score, packed.last_cut_to if place == included else None)
        for place, passage in enumerate(candidates, start=1)
    ]
    return GroundingRecord(
        tokens=packed.tokens,
        limit_tokens=limit_tokens,
        included=tuple(passages[:included]),
        left_out=tuple(passages[included:]),
        look_up=look_up,
    )
