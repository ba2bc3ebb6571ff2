"""Tools for tests, called as a reply calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conversations.core.tools.tool_spec import ToolSpec
from conversations.tools.function_runners import ThreadRunner
from conversations.tools.function_signatures import read_signature
from conversations.tools.python_tool import PythonTool
from conversations.tools.registry import registry
from conversations.tools.tool import Tool, ToolContext

ALICE = ToolContext(1, 2, 3)


def python_tool(function: Callable[..., Any], *, timeout_seconds: float | None = None) -> PythonTool:
    signature = read_signature(function)
    spec = ToolSpec(function.__name__, "", signature.schema)
    return PythonTool(spec, function, signature, ThreadRunner(spec.name), timeout_seconds)


async def call(tool: Tool | str, context: ToolContext = ALICE, **arguments: Any) -> str:
    """Return what *tool*, or the built-in one of that name, answers."""
    found = registry().tools[tool] if isinstance(tool, str) else tool
    return await found.run(json.dumps(arguments), context)
