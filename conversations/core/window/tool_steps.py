"""The calls and results of the turn that is being answered: large results are truncated, calls as a last resort.

    smallest = calls whole, of each result only the mark that it was truncated
    room for results = RESULTS_SHARE × what is left once all that must fit, steps at their smallest, has its place

Results share that room fairly: what is smaller than an equal part is sent whole, and what it leaves goes to the rest.
Where the steps at their smallest would take more than CALLS_SHARE of what is left, because calls are many or have huge
arguments, the oldest steps are left out whole, as many as have to be, so that something is left for results. The newest
step is always sent. A reply that has lost a step is to answer now: what it does not see it would only ask for again.

Where even the newest step alone does not fit whole, the arguments of its calls are truncated until it takes no more
than CALLS_SHARE, and sent as JSON that says so: {"truncated": "the beginning […]"}.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from conversations.core.prompt.messages import PromptMessage

from .budget import ChatFormat, CountText, content_tokens
from .history import HistoryMessage, group_into_units
from .truncation import TRUNCATION_MARK, characters_that_fit, truncate_text

RESULTS_SHARE = Fraction(3, 4)
CALLS_SHARE = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class SentStep:
    """Calls or a result as they are sent.

    *truncated_to* is how many characters are, of the result or of each call's arguments; None where all are.
    """

    message: HistoryMessage
    truncated_to: int | None = None


@dataclass(frozen=True, slots=True)
class ToolSteps:
    """The steps of a turn, oldest first: calls, each followed by all its results. Raises `ValueError` otherwise.

    *truncated_to* are the first steps' characters of arguments, where calls had to be truncated.
    """

    messages: Sequence[HistoryMessage]
    chat_format: ChatFormat
    count_text: CountText
    truncated_to: Mapping[int, int] = field(default_factory=dict)  # by position

    def __post_init__(self) -> None:
        for unit in group_into_units(reversed(self.messages), overhead_tokens=0):
            if len(unit.messages) < 2 or unit.flaw:
                raise ValueError(f"the steps of a turn are calls with their results; {unit.flaw or 'others'} came")

    @property
    def smallest_tokens(self) -> int:
        return sum(self.chat_format.overhead_tokens + self._smallest(message) for message in self.messages)

    def newest_within(self, limit_tokens: int) -> ToolSteps:
        """Return the newest steps that take at most *limit_tokens* at their smallest; the last one in any case."""
        kept = self
        while kept.smallest_tokens > limit_tokens and (later := kept._without_the_oldest()).messages:
            kept = later
        return kept

    def _without_the_oldest(self) -> ToolSteps:
        *_, oldest = group_into_units(reversed(self.messages), overhead_tokens=0)
        return replace(self, messages=self.messages[len(oldest.messages) :])

    def with_truncated_arguments(self, limit_tokens: int) -> ToolSteps:
        """Return the newest step with its calls' arguments truncated so that it takes at most *limit_tokens*.

        Where it can't take as little, nothing but the mark is left of them.
        """
        call, *results = self.messages

        def smallest_tokens(characters: int) -> int:
            return self._with_arguments(call, results, characters).smallest_tokens

        lengths = range(max(len(each.arguments) for each in call.message.tool_calls))
        fitting = bisect_right(lengths, limit_tokens, key=smallest_tokens)
        return self._with_arguments(call, results, max(fitting - 1, 0))

    def _with_arguments(self, call: HistoryMessage, results: Sequence[HistoryMessage], characters: int) -> ToolSteps:
        message = truncate_step(call.message, characters)
        if message == call.message:
            return self
        sent = call._replace(message=message, content_tokens=self._tokens(message))
        return replace(self, messages=(sent, *results), truncated_to={call.position: characters})

    def fit(self, room_tokens: int) -> tuple[SentStep, ...]:
        """Return the steps as they are sent when results may have *room_tokens* above their smallest."""
        more = [message.content_tokens - self._smallest(message) for message in self.messages]
        return tuple(
            SentStep(message, self.truncated_to.get(message.position))
            if given == wanted
            else self._cut(message, self._smallest(message) + given)
            for message, wanted, given in zip(self.messages, more, _shared(more, room_tokens), strict=True)
        )

    def _smallest(self, message: HistoryMessage) -> int:
        if message.message.role != "tool":
            return message.content_tokens
        return min(message.content_tokens, self._tokens(message.message._replace(content=TRUNCATION_MARK)))

    def _cut(self, message: HistoryMessage, limit_tokens: int) -> SentStep:
        content = message.message.content
        limit_tokens -= self._tokens(message.message._replace(content=""))
        characters = characters_that_fit(content, limit_tokens=limit_tokens, count_text=self.count_text)
        sent = message.message._replace(content=truncate_text(content, characters))
        return SentStep(message._replace(message=sent, content_tokens=self._tokens(sent)), characters)

    def _tokens(self, message: PromptMessage) -> int:
        return content_tokens(message, count_text=self.count_text, chat_format=self.chat_format)


def truncate_step(message: PromptMessage, characters: int | None) -> PromptMessage:
    """Return a result, or calls, with the first *characters* of its content, or of each one's arguments; None is all.

    Arguments that would not get shorter by it stay whole.
    """
    if characters is None or not message.tool_calls:
        return message._replace(content=truncate_text(message.content, characters))
    calls = (replace(call, arguments=truncate_arguments(call.arguments, characters)) for call in message.tool_calls)
    return message._replace(tool_calls=tuple(calls))


def truncate_arguments(arguments: str, characters: int) -> str:
    """Return JSON that holds the first *characters* of *arguments* and says so, or all of them if that is shorter."""
    truncated = json.dumps({"truncated": truncate_text(arguments, characters)}, ensure_ascii=False)
    return truncated if len(truncated) < len(arguments) else arguments


def _shared(wanted: Sequence[int], room_tokens: int) -> Iterator[int]:
    """Yield what each is given of the room: the small ones all they want, the others equal parts of the rest."""
    given: dict[int, int] = {}
    for place, (index, tokens) in enumerate(sorted(enumerate(wanted), key=lambda pair: pair[1])):
        given[index] = min(tokens, room_tokens // (len(wanted) - place))
        room_tokens -= given[index]
    return iter([given[index] for index in range(len(wanted))])
