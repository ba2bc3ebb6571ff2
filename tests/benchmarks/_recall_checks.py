"""What must hold for what a request recalls: asked of the newest message as it was sent, and of its record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from conversations.core.prompt.grounding_text import QUESTION_HEADER, RecalledPiece, render_question
from conversations.core.window.compute_window import Turn
from conversations.core.window.truncation import truncate_text
from conversations.core.window.window_record import RecallEntry, WindowRecord
from tests.benchmarks._cookbook import ENCODINGS, count
from tests.benchmarks._random_conversations import RandomConversation

HEAD = re.compile(r"([^\W\d_]\d*): (.*)", re.DOTALL)
DAY = re.compile(r"(?:\d{4}-)?\d\d-\d\d")
CUT = "[…]"


@dataclass(frozen=True, slots=True)
class SentRecall:
    """The newest message as it was *sent* to the language model *model*, with the record of its window."""

    sent: str
    model: str
    record: WindowRecord
    turn: Turn
    conversation: RandomConversation

    def findings(self) -> Iterator[str]:
        """Yield the goals that are missed."""
        if not self._is_sent_once():
            yield "sent_twice"
        if not self._is_within_share():
            yield "recall_over_share"
        if not self._is_read_as_recorded():
            yield "recall_misread"

    @property
    def rebuilt(self) -> str:
        """The message's text, from the record and what is stored alone."""
        return self._render([self._piece(entry) for entry in self.record.recall.included])

    def _render(self, pieces: list[RecalledPiece]) -> str:
        grounding = self.record.grounding
        passages = [self.turn.grounding[seen.number - 1] for seen in grounding.included]
        passages = [
            replace(passage, text=truncate_text(passage.text, seen.truncated_to))
            for passage, seen in zip(passages, grounding.included, strict=True)
        ]
        content, left_out = self.turn.newest.message.content, len(grounding.left_out)
        return render_question(content, passages, left_out=left_out, recalled=pieces)

    def _piece(self, entry: RecallEntry) -> RecalledPiece:
        said = self.conversation.history[entry.position].message
        text, is_whole = said.content[entry.start : entry.end], not entry.is_cut
        return RecalledPiece(
            entry.position, entry.start, entry.end, entry.at, said.role, text, is_whole=is_whole, name=said.name
        )

    def _is_sent_once(self) -> bool:
        """Tell whether nothing recalled is in the window, and no character of it is there twice."""
        in_window = {entry.position for entry in self.record.entries if entry.position is not None}
        ends: dict[int, int] = {}
        for entry in sorted(self.record.recall.included, key=lambda entry: (entry.position, entry.start, entry.end)):
            is_inside = entry.position in in_window or entry.position >= self.record.first_position
            if is_inside or entry.start < ends.get(entry.position, 0):
                return False
            ends[entry.position] = entry.end
        return True

    def _is_within_share(self) -> bool:
        """Tell whether what the recall adds, counted apart from the product, is as recorded and within its share."""
        record, encoding = self.record, ENCODINGS[self.model]
        tokens = count(self.sent, encoding) - count(self._render([]), encoding)
        beside = sum(entry.tokens for entry in record.entries if entry.kind != "older") - record.recall.tokens
        room_tokens = record.budget_tokens - record.priming_tokens - record.tool_schema_tokens - beside
        return tokens == record.recall.tokens <= record.recall.limit_tokens <= self._most_tokens(room_tokens)

    def _most_tokens(self, room_tokens: int) -> Fraction:
        """Return what a recall may take of the room for older messages.

        Where a window is filled again with what the recall left, messages fill what none could use at first, and
        the record does not say how much that was: it may have all that they leave.
        """
        policy = self.conversation.policy
        if not policy.recalls:
            return Fraction(0)
        if policy.always_refills:
            return Fraction(room_tokens - self._older_tokens)
        return Fraction(str(policy.recall_share)) * room_tokens + self._unusable_tokens

    @property
    def _older_tokens(self) -> int:
        return sum(entry.tokens for entry in self.record.entries if entry.kind == "older")

    @property
    def _unusable_tokens(self) -> int:
        """What the older messages leave of their room because the next one is larger: recall may have it."""
        record = self.record
        left_tokens = record.older_limit_tokens - self._older_tokens
        larger = [each for each in record.left_out if each.reason == "does_not_fit"]
        return left_tokens if sum(each.tokens for each in larger) > left_tokens else 0

    def _is_read_as_recorded(self) -> bool:
        """Tell whether a reader finds the days and messages of the record behind the block's head, oldest first.

        No line of a recalled message passes for the beginning of another one, for a day or for the end of the block.
        """
        included = sorted(self.record.recall.included, key=lambda entry: (entry.position, entry.start))
        if not included:
            return True
        blocks = self.sent.removesuffix(f"\n\n{QUESTION_HEADER}\n{self.turn.newest.message.content}")
        lines = blocks.rpartition("\n\n")[2].split("\n")[1:]
        firsts = {entry.position: entry for entry in reversed(included)}
        days = [entry.at[:10] for entry in included]
        pairs = zip(["", *days], days, strict=False)
        changes = [day[5:] if before[:5] == day[:5] else day for before, day in pairs if before != day]
        heads = [head[2] for line in lines if (head := HEAD.fullmatch(line))]
        return (
            [line for line in lines if DAY.fullmatch(line)] == changes
            and len(heads) == len(firsts)
            and all(self._begins(head, firsts[place]) for head, place in zip(heads, sorted(firsts), strict=True))
        )

    def _begins(self, head: str, entry: RecallEntry) -> bool:
        said = self._piece(entry).text
        first = next((line for line in said.splitlines() if line.strip()), "")
        return head in (first, f"{CUT} {first}", f"{first} {CUT}")
