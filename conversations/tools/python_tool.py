"""Tools that are Python functions, built-in or the site's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from django.conf import settings

from conversations.core.tools.tool_spec import ToolSpec

from .function_signatures import FunctionSignature
from .tool import ToolContext


class FunctionRunner(Protocol):
    """Runs a function and returns its result as text."""

    async def run(self, work: Callable[[], Any], *, timeout_seconds: float) -> str: ...


@dataclass(frozen=True, slots=True)
class PythonTool:
    """A function as a tool. Without *own_timeout_seconds* the setting `TOOL_CALL_SECONDS` bounds its calls."""

    spec: ToolSpec
    function: Callable[..., Any]
    signature: FunctionSignature
    runner: FunctionRunner
    own_timeout_seconds: float | None = None

    @property
    def timeout_seconds(self) -> float:
        return self.own_timeout_seconds or settings.TOOL_CALL_SECONDS

    def check(self, arguments: str) -> None:
        """Raise `ArgumentsNotJson` or `ArgumentsInvalid` unless *arguments* fits the signature."""
        self.signature.parse(arguments)

    async def run(self, arguments: str, context: ToolContext) -> str:
        """Return what the function returns, as text. Raises a `ToolError`, whatever the function does."""
        call = partial(self._call, arguments, context)
        return await self.runner.run(call, timeout_seconds=self.timeout_seconds)

    def _call(self, arguments: str, context: ToolContext) -> Any:
        return self.signature.call(self.function, self.signature.parse(arguments), context)
