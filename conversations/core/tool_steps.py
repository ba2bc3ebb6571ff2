"""The calls and results of the turn that is being answered: always sent, results cut where they are too large.

    smallest = calls whole, of each result only the mark that it was cut
    room for results = RESULTS_SHARE × what is left once all that must fit, steps at their smallest, has its place

Results share that room fairly: what is smaller than an equal part is sent whole, and what it leaves goes to the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .budget import CountText
from .cutting import CUT_MARK, characters_that_fit, cut_text
from .history import HistoryMessage, group_into_units

RESULTS_SHARE = Fraction(3, 4)


@dataclass(frozen=True, slots=True)
class SentStep:
    """A call or a result as it is sent; *cut_to* is how many characters of it are, None where all are."""

    message: HistoryMessage
    cut_to: int | None = None


@dataclass(frozen=True, slots=True)
class ToolSteps:
    """The steps of a turn, oldest first: calls, each followed by all its results. Raises `ValueError` otherwise."""

    messages: Sequence[HistoryMessage]
    overhead_tokens: int
    count_text: CountText

    def __post_init__(self) -> None:
        for unit in group_into_units(reversed(self.messages), overhead_tokens=0):
            if len(unit.messages) < 2 or unit.flaw:
                raise ValueError(f"the steps of a turn are calls with their results; {unit.flaw or 'others'} came")

    @property
    def smallest_tokens(self) -> int:
        return sum(self.overhead_tokens + self._smallest(message) for message in self.messages)

    def fitted(self, room_tokens: int) -> tuple[SentStep, ...]:
        """Return the steps as they are sent when results may have *room_tokens* above their smallest."""
        more = [message.content_tokens - self._smallest(message) for message in self.messages]
        return tuple(
            SentStep(message) if given == wanted else self._cut(message, self._smallest(message) + given)
            for message, wanted, given in zip(self.messages, more, _shared(more, room_tokens), strict=True)
        )

    def _smallest(self, message: HistoryMessage) -> int:
        if message.message.role != "tool":
            return message.content_tokens
        return min(message.content_tokens, self._tokens_of_id(message) + self.count_text(CUT_MARK))

    def _tokens_of_id(self, message: HistoryMessage) -> int:
        return self.count_text(message.message.tool_call_id or "")

    def _cut(self, message: HistoryMessage, limit_tokens: int) -> SentStep:
        limit_tokens -= self._tokens_of_id(message)
        content = message.message.content
        characters = characters_that_fit(content, limit_tokens=limit_tokens, count_text=self.count_text)
        sent = message.message._replace(content=cut_text(content, characters))
        tokens = self._tokens_of_id(message) + self.count_text(sent.content)
        return SentStep(message._replace(message=sent, content_tokens=tokens), characters)


def _shared(wanted: Sequence[int], room_tokens: int) -> Iterator[int]:
    """Yield what each is given of the room: the small ones all they want, the others equal parts of the rest."""
    given: dict[int, int] = {}
    for place, (index, tokens) in enumerate(sorted(enumerate(wanted), key=lambda pair: pair[1])):
        given[index] = min(tokens, room_tokens // (len(wanted) - place))
        room_tokens -= given[index]
    return iter([given[index] for index in range(len(wanted))])
