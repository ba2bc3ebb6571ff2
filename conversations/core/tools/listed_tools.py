"""Tool listings of MCP servers: read with bounds and without trust, and which parts of them are kept.

Nothing in one is trusted: names are made such that no provider refuses them and none can be taken for another tool's,
texts lose what people can't see, and a schema is taken or not, each by itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

from conversations.core.text.invisible_characters import is_invisible
from conversations.core.text.storable_text import UNSTORABLE

from .tool_schemas import SchemaRefused, require_sound
from .tool_spec import TOOL_NAME

MOST_TOOLS: Final = 500
LONGEST_DESCRIPTION: Final = 1_000  # characters
LONGEST_OWN_NAME: Final = 200
_LONGEST_NAME: Final = 64
_DIGEST_CHARACTERS: Final = 8
_UNFIT: Final = re.compile(r"[^a-zA-Z0-9_-]")

TOO_MANY: Final = "too_many"
NAME_UNFIT: Final = "name_unfit"
NAME_TAKEN: Final = "name_taken"


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool by the *name* that its server knows it by. *read_only* is what the server says, and no more than that."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    read_only: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class RefusedTool(NamedTuple):
    """A tool that is not taken, and why: one of the words above, or a `Flaw` of its schema."""

    name: str
    reason: str


class Listing(NamedTuple):
    kept: list[ListedTool]
    refused: list[RefusedTool]


def accept(listed: Iterable[ListedTool], *, server: str) -> Listing:
    """Return what is taken of a server's listing, in its order, and what is not."""
    kept: dict[str, ListedTool] = {}
    refused: list[RefusedTool] = []
    listed = list(listed)
    # Names that stay as they are come first, so that none that had to be changed can take their place.
    for tool in sorted(listed, key=lambda tool: not TOOL_NAME.fullmatch(f"{server}__{tool.name}")):
        if reason := _reason_against(tool, server, kept):
            refused.append(RefusedTool(clean(tool.name)[:LONGEST_OWN_NAME], reason))
        else:
            kept[name_for_models(server, tool.name)] = cleaned(tool)
    places = {tool.name: place for place, tool in enumerate(reversed(listed))}
    return Listing(sorted(kept.values(), key=lambda tool: -places[tool.name]), refused)


def _reason_against(tool: ListedTool, server: str, kept: Mapping[str, ListedTool]) -> str:
    if not tool.name.strip() or len(tool.name) > LONGEST_OWN_NAME or UNSTORABLE.search(tool.name):
        return NAME_UNFIT
    if name_for_models(server, tool.name) in kept:
        return NAME_TAKEN
    if len(kept) == MOST_TOOLS:
        return TOO_MANY
    try:
        require_sound(tool.parameters)
    except SchemaRefused as error:
        return error.flaw.value
    return ""


def name_for_models(server: str, tool: str) -> str:
    """Return the name by which language models call a tool: it has `__`, which those of other kinds never have."""
    plain = f"{server}__{tool}"
    if TOOL_NAME.fullmatch(plain):
        return plain
    room = _LONGEST_NAME - _DIGEST_CHARACTERS - 1
    digest = hashlib.sha256(tool.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{_UNFIT.sub('_', plain)[:room]}_{digest}"


def cleaned(tool: ListedTool) -> ListedTool:
    """Return *tool* with texts that people see all of, of a length that a prompt can bear."""
    description = clean(tool.description).strip()
    if len(description) > LONGEST_DESCRIPTION:
        description = description[: LONGEST_DESCRIPTION - 2].rstrip() + " …"
    return replace(tool, description=description, parameters={"properties": {}, **_cleaned_texts(tool.parameters)})


def clean(text: str) -> str:
    """Return *text* without control characters and other invisible ones, except line breaks and tabs."""
    return text.translate(dict.fromkeys(ord(each) for each in set(text) if is_invisible(each)))


def _cleaned_texts(schema: Any) -> Any:
    """Return *schema* with clean descriptions. What arguments are compared with stays as it is."""
    if isinstance(schema, list):
        return [_cleaned_texts(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: clean(each) if key in ("description", "title") and isinstance(each, str) else _cleaned_texts(each)
        for key, each in schema.items()
    }
