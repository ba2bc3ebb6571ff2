"""What must hold for every request body: asked of the body alone, with a count that is not the product's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from conversations.core.errors import ConversationError, PolicyFailed
from conversations.core.window.compute_window import Turn
from conversations.core.window.truncation import TRUNCATION_MARK
from conversations.core.window.window_record import WindowRecord
from tests.benchmarks._cookbook import BodyTokens, count_body
from tests.benchmarks._random_conversations import RandomConversation
from tests.benchmarks._random_policies import WRONG
from tests.benchmarks._read_body import plain_message
from tests.benchmarks._recall_checks import SentRecall
from tests.benchmarks._summary_checks import SentSummary

GOALS = (
    "over",
    "newest_missing",
    "record_differs",
    "results_without_call",
    "calls_without_results",
    "excluded_sent",
    "sent_twice",
    "recall_over_share",
    "recall_misread",
    "summary_over_share",
    "summary_misplaced",
    "refused_wrongly",
    "errors_without_type",
    "breakpoints_misplaced",
)
RECALLED = "recalled"
AT_LIMIT = "exactly_at_limit"  # how an error of a single token would be seen


def limit_of(conversation: RandomConversation) -> Fraction:
    """Return how many tokens a body may have: the context window without the reserve, capped and calibrated."""
    policy, language_model = conversation.policy, conversation.language_model
    limit = language_model.context_window_tokens - (policy.reply_reserve_tokens or language_model.reply_reserve_tokens)
    if policy.cap_tokens:
        limit = min(limit, policy.cap_tokens)
    return limit / Fraction(conversation.calibration)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request *body* with the record of its window, and what it was made from."""

    body: Mapping[str, Any]
    record: WindowRecord
    turn: Turn
    conversation: RandomConversation

    def findings(self) -> Iterator[str]:
        """Yield the goals that are missed, and whether not one token more would have fitted."""
        tokens = count_body(self.body)
        limit = limit_of(self.conversation)
        if tokens.total > limit:
            yield "over"
        if tokens.total == int(limit):
            yield AT_LIMIT
        if not self._has_newest():
            yield "newest_missing"
        else:
            yield from self._recall.findings()
        if not self._is_as_recorded(tokens):
            yield "record_differs"
        if not self._breakpoints_are_placed():
            yield "breakpoints_misplaced"
        yield from unanswered(self.body["messages"])
        yield from SentSummary(self.body["messages"], self.record, self.turn, self.conversation.policy).findings()
        if any(message.excluded for message in self._stored().values()):
            yield "excluded_sent"

    def _breakpoints_are_placed(self) -> bool:
        """Tell whether there are at most three, and none on the newest message or behind it, where grounding is."""
        marked, behind = self.body["marked"], 1 + sum(entry.kind == "tool_step" for entry in self.record.entries)
        told = len(self.body["messages"]) - behind
        count = len(marked) + self.body["marked_tools"]
        is_wanted = bool(self.record.breakpoints) or not count
        return is_wanted and count <= 3 and (self.record.wire != "chat" or all(each < told for each in marked))

    def _has_newest(self) -> bool:
        """Tell whether the question is there, with or without what was looked up before it."""
        content, sent = self.turn.newest.message.content, self._sent_question
        looked_up = self.record.grounding.included or self.record.recall.included
        return sent is not None and (sent.endswith(f"\n{content}") if looked_up else sent == content)

    @property
    def _sent_question(self) -> str | None:
        """What stands where the question has to be: last but for the steps that are sent."""
        place = -1 - sum(entry.kind == "tool_step" for entry in self.record.entries)
        messages = self.body["messages"]
        return messages[place]["content"] if len(messages) >= -place and messages[place]["role"] == "user" else None

    @property
    def _recall(self) -> SentRecall:
        return SentRecall(self._sent_question or "", self.body["model"], self.record, self.turn, self.conversation)

    def _is_as_recorded(self, tokens: BodyTokens) -> bool:
        record, messages = self.record, self.body["messages"]
        return (
            record.prompt_tokens == tokens.total
            and record.tool_schema_tokens == tokens.tools
            and tuple(entry.tokens for entry in record.entries) == tokens.messages
            and [entry.role for entry in record.entries] == [message["role"] for message in messages]
            and sum(record.parts.values()) == record.budget_tokens
            and all(self._texts_are_stored())
        )

    def _texts_are_stored(self) -> Iterator[bool]:
        """Yield for each message whether it is the stored one, cut where the record says so and not otherwise."""
        stored = self._stored()
        for place, message in enumerate(self.body["messages"]):
            entry = self.record.entries[place]
            if entry.kind == "system":
                yield message["content"] == self.conversation.system_prompt
            elif entry.kind == "newest":
                yield message["content"] == self._recall.rebuilt
                yield message.get("pictures", []) == self._pictures_of_newest(entry.pictures)
            elif entry.kind == "summary":
                yield self.turn.summary is not None and message == self.turn.summary.message.to_json()
            else:
                expected = plain_message(stored[place].message.to_json())
                if (kept := stored[place].message.kept) and kept.items:
                    expected["items"] = kept.items
                if entry.truncated_to is not None:
                    _truncate(expected, entry.truncated_to)
                yield message == expected

    def _pictures_of_newest(self, sent: str) -> list[tuple[str, str]]:
        """Return the question's pictures as the body has them, if the record is right about their detail."""
        detail = sent.replace("auto", "")
        return [(picture.digest, detail) for picture in self.turn.newest.message.pictures]

    def _stored(self) -> dict[int, Any]:
        """Return by place in the body the stored message that the record names."""
        steps = {step.position: step for step in self.turn.steps}
        found = {}
        for place, entry in enumerate(self.record.entries):
            if entry.kind in ("pin", "older"):
                found[place] = self.conversation.history[entry.position]
            elif entry.kind == "tool_step":
                found[place] = steps[entry.position]
        return found


def _truncate(message: dict[str, Any], characters: int) -> None:
    """Leave the first *characters* of a result, or of the arguments of calls that get shorter by it."""
    if "tool_calls" not in message:
        message["content"] = _beginning(message["content"], characters)
    for call in message.get("tool_calls", ()):
        whole = call["function"]["arguments"]
        truncated = json.dumps({"truncated": _beginning(whole, characters)}, ensure_ascii=False)
        call["function"]["arguments"] = truncated if len(truncated) < len(whole) else whole


def _beginning(text: str, characters: int) -> str:
    beginning = text[:characters].rstrip()
    return f"{beginning} {TRUNCATION_MARK}" if beginning else TRUNCATION_MARK


def unanswered(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what providers refuse: a result that follows no call of its own, a call that is not answered at once."""
    awaited: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in awaited:
                yield "results_without_call"
            awaited.discard(message["tool_call_id"])
        else:
            if awaited:
                yield "calls_without_results"
            awaited = {call["id"] for call in message.get("tool_calls", ())}
    if awaited:
        yield "calls_without_results"


def refusal_faults(error: Exception, turn: Turn, conversation: RandomConversation) -> Iterator[str]:
    """Yield what is wrong with a refusal: it has no type of its own, or what must fit does fit."""
    if not isinstance(error, ConversationError):
        yield "errors_without_type"
    elif isinstance(error, PolicyFailed):
        if not isinstance(conversation.policy, WRONG):
            yield "refused_wrongly"
    elif not conversation.policy.refuses_to_drop and _the_least_fits(turn, conversation):
        yield "refused_wrongly"


def _the_least_fits(turn: Turn, conversation: RandomConversation) -> bool:
    """Tell whether system prompt, tools and newest message fit every limit, and there is nothing else that must."""
    if turn.pins or turn.steps:
        return False
    system = [{"role": "system", "content": turn.system_prompt}] if turn.system_prompt else []
    newest = turn.with_smaller_pictures(0) if turn.with_smaller_pictures else turn.newest
    messages = [*system, plain_message(newest.message.to_json())]
    least = count_body({"model": conversation.language_model.name, "messages": messages, "tools": conversation.tools})
    cap_tokens = conversation.policy.message_cap_tokens
    return least.total <= limit_of(conversation) and (not cap_tokens or turn.newest.content_tokens <= cap_tokens)
