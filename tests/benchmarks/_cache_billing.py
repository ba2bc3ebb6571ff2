"""How providers bill the input of a conversation's requests when its beginning comes from their cache, as data.

    cost = read · its share + written · its share + the rest, in tokens at the full price

A request is billed as it is written for its provider: the messages with their marks of breakpoints, if it has any. What
was written to the cache is assumed to stay there, for every policy alike; nothing below the minimum is written or read.

`prefix`: what this request and the one before begin with, in whole steps. `breakpoints`: a request reads the longest
beginning that ends where an earlier one was written, and writes what lies between it and its last breakpoint, with an
entry at each. Without explicit ones OpenAI sets one at the newest user message; Anthropic caches nothing then.
All of it is from documents, checked 2026-11-23, and was not tried against a provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

from conversations.core.prompt.cache_breakpoints import MARKS
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.prompt_format import Breakpoints, PromptFormat
from conversations.core.prompt.written_prompt import write_prompt
from conversations.core.window.compute_window import Window
from conversations.core.window.policies import WindowPolicy
from conversations.core.window.window_record import WindowEntry
from tests.benchmarks._openai_conversations import Conversation
from tests.benchmarks._prefix_cache import common_tokens
from tests.benchmarks._replay import blocks, windows


@dataclass(frozen=True, slots=True)
class BillingRule:
    """What tokens cost as shares of the price of plain input, and what of a request is read and written.

    At most *most_writes* breakpoints count, the last ones; *breakpoints* is how they are set. A breakpoint
    finds what was written at it or at most *looks_back* messages before it; None is any number. *step_tokens* are those
    of a prefix.
    """

    name: str
    source: str
    match: Literal["prefix", "breakpoints"]
    read_share: float
    write_share: float
    minimum_tokens: int = 1_024
    step_tokens: int = 128
    breakpoints: Breakpoints = ""
    has_implicit_breakpoint: bool = False
    most_writes: int = 4
    looks_back: int | None = None


RULES = (
    BillingRule(
        "OpenAI before GPT-5.6",
        "https://developers.openai.com/api/docs/guides/prompt-caching",
        "prefix",
        read_share=0.10,
        write_share=1.0,
    ),
    BillingRule(
        "GPT-5.6 and later",
        "https://developers.openai.com/api/docs/guides/prompt-caching",
        "breakpoints",
        read_share=0.10,
        write_share=1.25,
        breakpoints="openai",
        has_implicit_breakpoint=True,
    ),
    BillingRule(
        "Anthropic by OpenRouter",
        "https://openrouter.ai/docs/features/prompt-caching",
        "breakpoints",
        read_share=0.10,
        write_share=1.25,
        breakpoints="anthropic",
        looks_back=20,
    ),
    BillingRule(
        "DeepSeek",
        "https://api-docs.deepseek.com/guides/kv_cache",
        "prefix",
        read_share=0.10,
        write_share=1.0,
        minimum_tokens=64,
        step_tokens=64,
    ),
)


@dataclass(slots=True)
class CacheBill:
    """The bill of conversations' requests in their order; *marks* is whether they have explicit breakpoints.

    *new_tokens* are those of messages that no request before had in these words: no cache can save them.
    """

    rule: BillingRule
    marks: bool = False
    requests: int = 0
    new_tokens: int = 0
    read_tokens: int = 0
    written_tokens: int = 0
    other_tokens: int = 0
    _previous: Window | None = None
    _entries: set[int] = field(default_factory=set)  # digests of the beginnings that were written
    _seen: set[int] = field(default_factory=set)  # digests of the messages that were sent

    @property
    def cost(self) -> float:
        """What was billed, in tokens at the full price."""
        return self.rule.read_share * self.read_tokens + self.rule.write_share * self.written_tokens + self.other_tokens

    def add(self, window: Window) -> None:
        read, written = self._read_prefix(window) if self.rule.match == "prefix" else self._use_breakpoints(window)
        self.requests += 1
        self.read_tokens += read
        self.written_tokens += written
        self.other_tokens += window.record.prompt_tokens - read - written
        self._previous = window
        messages = {hash(message): entry.tokens for message, entry in _with_entries(window)}
        self.new_tokens += sum(tokens for digest, tokens in messages.items() if digest not in self._seen)
        self._seen |= messages.keys()

    def begin_conversation(self) -> None:
        """Forget what is in the cache: nothing of it is of use to another conversation."""
        self._previous = None
        self._entries.clear()
        self._seen.clear()

    def _read_prefix(self, window: Window) -> tuple[int, int]:
        common = common_tokens(window, self._previous) if self._previous else 0
        return (common - common % self.rule.step_tokens if common >= self.rule.minimum_tokens else 0), 0

    def _use_breakpoints(self, window: Window) -> tuple[int, int]:
        breakpoints = sorted(self._breakpoints(window))[-self.rule.most_writes :]
        ends = list(accumulate(entry.tokens for entry in window.record.message_entries))
        digests = list(accumulate(map(hash, window.prompt), lambda before, message: hash((before, message))))
        found = max(self._found(breakpoints, digests), default=-1)
        read = ends[found] if found >= 0 else 0
        entries = [place for place in breakpoints if place > found and ends[place] >= self.rule.minimum_tokens]
        self._entries |= {digests[place] for place in entries}
        return read, (ends[entries[-1]] - read if entries else 0)

    def _found(self, breakpoints: Sequence[int], digests: Sequence[int]) -> Iterator[int]:
        for place in breakpoints:
            first = 0 if self.rule.looks_back is None else max(0, place + 1 - self.rule.looks_back)
            yield from (at for at in range(first, place + 1) if digests[at] in self._entries)

    def _breakpoints(self, window: Window) -> Iterator[int]:
        """Yield the places of the messages after which there is a breakpoint."""
        written = write_prompt(window.prompt, PromptFormat("chat", self.rule.breakpoints if self.marks else ""))
        marked = [place for place, message in enumerate(written) if self._is_marked(message)]
        yield from marked
        if not marked and self.rule.has_implicit_breakpoint:
            yield max(place for place, message in enumerate(window.prompt) if message.role == "user")

    def _is_marked(self, message: Mapping[str, Any]) -> bool:
        content = message["content"]
        mark = next(iter(MARKS[self.rule.breakpoints])) if self.marks and self.rule.breakpoints else ""
        return isinstance(content, list) and any(mark in part for part in content)


def bill_all(
    conversations: Iterable[Conversation], policy: WindowPolicy, bills: Sequence[CacheBill], *, block_tokens: int = 0
) -> None:
    """Add all requests of the conversations to each of the *bills*, with a block of about *block_tokens* in each."""
    for number, conversation in enumerate(conversations):
        for bill in bills:
            bill.begin_conversation()
        for window in windows(conversation, policy, blocks(block_tokens, seed=number), seed=number):
            for bill in bills if window else ():
                bill.add(window)


def _with_entries(window: Window) -> Iterator[tuple[PromptMessage, WindowEntry]]:
    return zip(window.prompt, window.record.message_entries, strict=True)
