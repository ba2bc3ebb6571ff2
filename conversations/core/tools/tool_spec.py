"""Tool specifications: the functions that a language model may call, as it is given them, and the result of a call.

schema = {"type": "function", "function": {"name", "description", "parameters"}}      as OpenAI's format has it
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what providers take
BUILT_IN: Final = "built-in"  # sources that are no MCP server's names
OWN: Final = "own"
MOST_CALLS_AT_ONCE: Final = 16  # of one step; more get an error for a result


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is described to a language model. *name* is the one that it calls, *source* who offers it.

    *address* is where its calls go if they leave this site. *parameters* is a JSON schema of an object. A tool that
    *needs_approval* may change something: the owner approves each call, seeing the exact arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    source: str = BUILT_IN
    needs_approval: bool = False
    address: str = ""

    @property
    def schema(self) -> dict[str, Any]:
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def digest_of_call(self, arguments: str) -> str:
        """Return what a user's approval is bound to: this tool as it is now, and exactly these arguments."""
        called = json.dumps([self.source, self.address, self.schema, canonical(arguments)], sort_keys=True)
        return hashlib.sha256(called.encode()).hexdigest()


def is_object(arguments: str) -> bool:
    """Tell whether *arguments* is the JSON text of an object."""
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def canonical(arguments: str) -> str:
    """Return JSON text in one form, so that the same arguments are the same text; other text as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments
