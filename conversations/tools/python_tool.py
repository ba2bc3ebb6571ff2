"""A tool that is a Python function of this site."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from django.conf import settings

from conversations.core.tools.tool_spec import ToolSpec

from .function_signatures import Signature
from .tool import ToolContext


class Place(Protocol):
    """Where a function runs."""

    async def run(self, work: Callable[[], Any], *, timeout_seconds: float) -> str: ...


@dataclass(frozen=True, slots=True)
class PythonTool:
    """*own_timeout_seconds* is None for one that takes the site's."""

    spec: ToolSpec
    function: Callable[..., Any]
    signature: Signature
    place: Place
    own_timeout_seconds: float | None = None

    @property
    def timeout_seconds(self) -> float:
        return self.own_timeout_seconds or settings.TOOL_CALL_SECONDS

    def check(self, arguments: str) -> None:
        """Raises `ArgumentsBroken`, `ArgumentsUnfit`."""
        self.signature.read(arguments)

    async def run(self, arguments: str, context: ToolContext) -> str:
        """Return what the function returns, as text. Raises a `ToolError`, whatever the function does."""
        call = partial(self._call, arguments, context)
        return await self.place.run(call, timeout_seconds=self.timeout_seconds)

    def _call(self, arguments: str, context: ToolContext) -> Any:
        return self.signature.call(self.function, self.signature.read(arguments), context)
