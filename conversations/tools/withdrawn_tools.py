"""Tools that are there no more. Many providers refuse a prompt with calls, unless tools go with the request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from conversations.core.errors import ToolUnknown
from conversations.core.tools.tool_spec import ToolSpec

from .tool import ToolContext
from .toolbox import Toolbox

TAKES_NOTHING = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class WithdrawnTool:
    """A tool of which only its *name* is known. It can't be called."""

    name: str
    timeout_seconds: float = 0.0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "", TAKES_NOTHING)

    def check(self, arguments: str) -> NoReturn:
        raise ToolUnknown

    async def run(self, arguments: str, context: ToolContext) -> NoReturn:
        raise ToolUnknown


def withdrawn_tools(names: Iterable[str]) -> Toolbox:
    """Return what is told of tools that a prompt has calls of when there are none any more."""
    return Toolbox.of(map(WithdrawnTool, names))
