"""Random conversations: a stored history of every kind of message, and what limits its window.

A budget has 16 to 12,000 tokens, a message one token to three times the budget. Lone surrogates are left out: neither
PostgreSQL nor a body in UTF-8 can hold one.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.kept_reasoning import KeptReasoning
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.prompt.prompt_format import PromptFormat
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.window.budget import CountText, LanguageModel, content_tokens
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.core.window.summary import WindowSummary
from conversations.providers.tokens.tokenizer import chat_format, encoding_for
from tests.benchmarks._random_pictures import with_random_pictures
from tests.benchmarks._random_policies import random_policy
from tests.benchmarks._random_recall import random_imitation, random_passages
from tests.benchmarks._random_texts import Texts

SMALLEST_BUDGET, LARGEST_BUDGET = 16, 12_000
MOST_UNITS = 80
KINDS = ("plain",) * 12 + ("tool_turn", "tool_turn", "lost_result", "lost_call", "excluded", "empty", "named", "huge")
KINDS += ("imitation", "picture")


@dataclass(slots=True)
class RandomConversation:
    """A conversation that grows: *history* is oldest first, a message's position is its place in it."""

    randomly: random.Random
    texts: Texts
    count_text: CountText
    language_model: LanguageModel
    policy: WindowPolicy
    calibration: Decimal
    budget_tokens: int
    system_prompt: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    pictures_share: float = 0
    history: list[HistoryMessage] = field(default_factory=list)
    pinned: set[int] = field(default_factory=set)

    @property
    def pins(self) -> tuple[HistoryMessage, ...]:
        return tuple(self.history[position] for position in sorted(self.pinned))

    def newest_first(self) -> Iterator[HistoryMessage]:
        return reversed(self.history)

    def grow(self) -> None:
        """Add one to many units, and pin some of their messages."""
        pinned_share = self.randomly.choice((0, 0, 0, 0.05, 0.2))
        for _ in range(int(math.exp(self.randomly.uniform(0, math.log(MOST_UNITS))))):
            for message in self._unit(self.randomly.choice(KINDS)):
                self.store(message)
                if self.randomly.random() < pinned_share:
                    self.pinned.add(message.position)

    def store(self, message: HistoryMessage) -> None:
        self.history.append(message)

    def question(self) -> HistoryMessage:
        """Return a newest user message, which `store` adds once it is answered."""
        most_tokens = self.budget_tokens * self.randomly.choice((0.05, 0.3, 0.3, 1, 3))
        question = self._message(0, PromptMessage("user", self._text(most_tokens)))
        return self._with_pictures(question)

    def passages(self) -> tuple[PromptPassage, ...]:
        if self.randomly.random() < 0.6:
            return ()
        most_tokens = self.budget_tokens * self.randomly.choice((0.05, 0.2, 1, 2))
        count = self.randomly.randint(1, 6)
        return tuple(PromptPassage(self._text(most_tokens), self._text(8), 0.5) for _ in range(count))

    def recalled(self) -> tuple[RecalledPassage, ...] | None:
        """Return passages of what was said before, best first; None where they are not looked up."""
        if self.randomly.random() < 0.2:
            return None
        return random_passages(self.randomly, self.history, self.count_text)

    def summary(self) -> WindowSummary | None:
        """Return a version of a summary of any length, which stands for more or less than what has left the window."""
        if self.randomly.random() < 0.2:
            return None
        text = self._text(self.budget_tokens * self.randomly.choice((0.02, 0.1, 0.3, 0.6, 2)))
        number, covers_before = self.randomly.randint(1, 30), self.randomly.randint(0, len(self.history))
        summary = WindowSummary(7_000 + number, number, text, 0, covers_before)
        return summary._replace(content_tokens=self._tokens(summary.message))

    def tool_turn(self, offset: int) -> list[HistoryMessage]:
        """Return calls of tools with all their results, beginning *offset* behind the history's end."""
        most_tokens = self.budget_tokens * self.randomly.choice((0.02, 0.05, 0.1, 1.5))
        calls = tuple(
            PromptToolCall(f"call_{self.randomly.randrange(10**9)}", self._text(4), json.dumps({"q": self._text(20)}))
            for _ in range(self.randomly.randint(1, 3))
        )
        content = self._text(10) if self.randomly.random() < 0.3 else ""
        said = [PromptMessage("assistant", content, tool_calls=calls)]
        for call in self.randomly.sample(calls, len(calls)):
            result = self._text(most_tokens) if self.randomly.random() < 0.9 else ""
            said.append(PromptMessage("tool", result, tool_call_id=call.id))
        return [self._message(offset + place, message) for place, message in enumerate(said)]

    def with_reasoning(self, steps: list[HistoryMessage]) -> list[HistoryMessage]:
        """Return *steps* with reasoning that the provider demands back with their calls, in some of them."""
        if self.randomly.random() < 0.4:
            return steps
        called, *results = steps
        calls = called.message.tool_calls
        thought = self._text(self.budget_tokens * self.randomly.choice((0.02, 0.1, 0.6)))
        content: dict[str, Any] = {}
        if self.language_model.prompt_format.wire == "responses":
            items: list[dict[str, Any]] = [{"call": place} for place in range(len(calls))]
            place = self.randomly.randint(0, len(items) - 1)
            items.insert(place, {"type": "reasoning", "id": "rs_1", "encrypted_content": thought})
            content["items"] = items
        else:
            content["fields"] = {"reasoning_content": thought}
            if self.randomly.random() < 0.5:
                content["calls"] = [{"extra_content": {"google": self._text(20)}} for _ in calls]
        tokens = self.count_text(json.dumps(content, ensure_ascii=False))
        kept = KeptReasoning.from_content(
            content, language_model="m", wire=self.language_model.prompt_format.wire, tokens=tokens
        )
        message = called.message._replace(kept=kept)
        return [called._replace(message=message, content_tokens=called.content_tokens + tokens), *results]

    def _unit(self, kind: str) -> list[HistoryMessage]:
        match kind:
            case "tool_turn":
                return self.tool_turn(0)
            case "lost_result":
                return self.tool_turn(0)[:-1]
            case "lost_call":
                return [message._replace(position=message.position - 1) for message in self.tool_turn(0)[1:]]
            case "excluded":
                return [message._replace(excluded=True) for message in self._unit("plain")]
            case "empty":
                return [self._message(0, PromptMessage("assistant", ""))]
            case "picture" if self.pictures_share:
                return [with_random_pictures(self.randomly, self._message(0, PromptMessage("user", "")))]
            case "named" if self.language_model.prompt_format.wire == "chat":
                return [self._message(0, PromptMessage("user", self._text(50), name=self._text(5)))]
            case "imitation":
                role = self.randomly.choice(("user", "assistant"))
                return [self._message(0, PromptMessage(role, random_imitation(self.randomly)))]
        most_tokens = self.budget_tokens * (3 if kind == "huge" else 0.15)
        role = self.randomly.choice(("user", "assistant"))
        said = self._message(0, PromptMessage(role, self._text(most_tokens)))
        return [self._with_pictures(said) if role == "user" else said]

    def _with_pictures(self, said: HistoryMessage) -> HistoryMessage:
        if self.randomly.random() >= self.pictures_share:
            return said
        return with_random_pictures(self.randomly, said)

    def _message(self, offset: int, message: PromptMessage) -> HistoryMessage:
        position = len(self.history) + offset
        return HistoryMessage(position, message, self._tokens(message), id=1_000 + position)

    def _tokens(self, message: PromptMessage) -> int:
        return content_tokens(message, count_text=self.count_text, chat_format=self.language_model.chat_format)

    def _text(self, most_tokens: float) -> str:
        return self.texts.draw(self.randomly, most_tokens=most_tokens)


def random_conversation(randomly: random.Random, name: str, texts: Texts, count_text: CountText) -> RandomConversation:
    """Return a conversation for the language model *name*, with nothing said yet."""
    budget_tokens = int(math.exp(randomly.uniform(math.log(SMALLEST_BUDGET), math.log(LARGEST_BUDGET))))
    reserve_tokens = randomly.randint(1, budget_tokens)
    prompt_format = PromptFormat(randomly.choice(("chat", "responses")), randomly.choice(("", "openai", "anthropic")))
    return RandomConversation(
        randomly,
        texts,
        count_text,
        LanguageModel(
            name,
            budget_tokens + reserve_tokens,
            reserve_tokens,
            encoding_for(name),
            chat_format(name),
            prompt_format=prompt_format,
        ),
        random_policy(randomly, budget_tokens=budget_tokens),
        Decimal(randomly.choice((100, 100, 101, randomly.randint(100, 300)))) / 100,
        budget_tokens,
        system_prompt=texts.draw(randomly, most_tokens=budget_tokens / 4) if randomly.random() < 0.6 else "",
        tools=tuple(random_tools(randomly, texts)) if randomly.random() < 0.15 else (),
        pictures_share=randomly.choice((0, 0, 0.1, 0.4)),
    )


def random_tools(randomly: random.Random, texts: Texts) -> Iterator[dict[str, Any]]:
    """Yield schemas of the kind whose tokens OpenAI has published."""
    for number in range(randomly.randint(1, 3)):
        properties = {f"property_{place}": _property(randomly, texts) for place in range(randomly.randint(0, 3))}
        yield {
            "type": "function",
            "function": {
                "name": f"tool_{number}",
                "description": texts.draw(randomly, most_tokens=20) + randomly.choice(("", ".")),
                "parameters": {"type": "object", "properties": properties},
            },
        }


def _property(randomly: random.Random, texts: Texts) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": randomly.choice(("string", "number", "boolean")),
        "description": texts.draw(randomly, most_tokens=10) + randomly.choice(("", ".")),
    }
    if randomly.random() < 0.3:
        schema["enum"] = [texts.draw(randomly, most_tokens=4) for _ in range(randomly.randint(1, 4))]
    return schema
