"""The protocol between this process and the child of an MCP connection: one JSON object a line.

                                                    ← {} ⏎, once it is there
McpConnection ⏎                                     to it, first of all
{"list": name of the server} ⏎                      → {"kept": [tool …], "refused": [[name, reason] …]} ⏎
{"call": name of the tool, "arguments": {…}} ⏎      → {"text": …} ⏎
                                                    or {"error": code, "detail": …} ⏎, and then no more

When its input ends, the parent no longer waits for an answer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from conversations.core.errors import ToolError
from conversations.core.tools.listed_tools import ListedTool, Listing, RefusedTool

MOST_BYTES: Final = 4_000_000  # of all answers of a server within one connection
LONGEST_LINE_BYTES: Final = 3 * MOST_BYTES  # structured results are serialized again, with more space between


@dataclass(frozen=True, slots=True)
class McpConnection:
    """How to reach a server. *authorization* is the value of the header; *named_hosts* may be private addresses."""

    url: str
    authorization: str = field(default="", repr=False)
    timeout_seconds: float = 30.0
    named_hosts: Collection[str] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "named_hosts": list(self.named_hosts)}


def write_line(members: Mapping[str, Any]) -> bytes:
    return json.dumps(members, ensure_ascii=False).encode(errors="replace") + b"\n"


def read_line(line: bytes) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(line)
    return members


def listing_to_json(listing: Listing) -> dict[str, Any]:
    return {"kept": [tool.to_json() for tool in listing.kept], "refused": listing.refused}


def listing_from_json(members: Mapping[str, Any]) -> Listing:
    return Listing(
        [ListedTool(**tool) for tool in members["kept"]], [RefusedTool(*each) for each in members["refused"]]
    )


def error_to_json(error: ToolError) -> dict[str, Any]:
    return {"error": error.code, "detail": error.detail}


def error_from_json(members: Mapping[str, Any]) -> ToolError:
    return _ERRORS[members["error"]](detail=members["detail"])


def _subclasses(root: type[ToolError]) -> Iterator[type[ToolError]]:
    yield root
    for child in root.__subclasses__():
        yield from _subclasses(child)


_ERRORS: Final = {kind.code: kind for kind in _subclasses(ToolError)}
