"""Tools whose calls are noted, and what collects a reply."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from conversations.core.errors import ArgumentsNotJson
from conversations.core.tools.tool_spec import ToolSpec, is_object
from conversations.services.replies.reasoning import NO_REASONING, Reasoning
from conversations.tools.tool import ToolContext

Answer = Callable[[str], Awaitable[str]]


class NotedTool:
    """A tool that takes any object, and notes the arguments of each call that is run in *ran*."""

    def __init__(self, name: str = "look", answer: Answer | None = None, *, needs_approval: bool = False) -> None:
        self.spec = ToolSpec(name, "Looks around.", {"type": "object"}, source="tests", needs_approval=needs_approval)
        self.timeout_seconds = 600.0  # who is to end in time says so
        self.ran: list[str] = []
        self._answer = answer or self._tell

    def check(self, arguments: str) -> None:
        if not is_object(arguments):
            raise ArgumentsNotJson

    async def run(self, arguments: str, context: ToolContext) -> str:
        self.ran.append(arguments)
        return await self._answer(arguments)

    async def _tell(self, arguments: str) -> str:
        return f"{self.spec.name} saw {arguments}"


class Texts:
    """Where a reply goes: the texts and thoughts of its steps, of which the last are the reply's own."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.thoughts: list[str] = []
        self.reasoning_tokens: int | None = None
        self.calls_shown = 0

    @property
    def reasoning(self) -> Reasoning:
        return Reasoning(self.thoughts[-1] if self.thoughts else "", 1.0, self.reasoning_tokens)

    def show_web_search(self, *, lasts: bool) -> None:
        pass

    def begin_step(self, step: int, *, position: int, text: str, reasoning: Reasoning = NO_REASONING) -> None:
        self.steps.append(text)
        self.thoughts.append(reasoning.text)
        self.reasoning_tokens = reasoning.tokens

    def show_calls(self) -> None:
        self.calls_shown += 1

    def record_window(self, record: object) -> None:
        pass

    def append(self, text: str) -> None:
        self.steps[-1] += text

    def take_back_text(self) -> None:
        self.thoughts[-1] += self.steps[-1]
        self.steps[-1] = ""

    def append_reasoning(self, text: str) -> None:
        self.thoughts[-1] += text

    def pause_reasoning(self) -> None:
        pass

    def end_attempt(self, *, reasoning_tokens: int | None) -> None:
        self.reasoning_tokens = reasoning_tokens

    @property
    def text(self) -> str:
        return self.steps[-1] if self.steps else ""


def call(name: str = "look", /, **arguments: Any) -> dict[str, Any]:
    """Return a call as the models of tests/support/tool_dialogues.py are told of it."""
    return {"name": name, "arguments": arguments}


def script(*steps: list[dict[str, Any]], **more: Any) -> str:
    """Return a question that says what is to be called, step by step."""
    return json.dumps({"calls": steps, **more})
