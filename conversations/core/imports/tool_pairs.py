"""Tool calls of other programs, each with its result, as the steps of the reply that they led to.

A result belongs to the call whose id it names; without one to the first call of its tool that waits, or has to the last
one. A call without a result, and a result without a call, could not be sent: they are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conversations.core.errors import InvalidHistory
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.prompt.openai_messages import MOST_ID_CHARACTERS, clean_message
from conversations.core.tools.tool_spec import is_object

from .imported import CUT, TOOL_PARTS, TOOLS, ImportedConversation, as_list, as_mapping, as_text

LONGEST_NAME, LONGEST_ARGUMENTS, LONGEST_RESULT = 64, 50_000, 200_000
NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
UNNAMED = "unknown"


class ToolUse(NamedTuple):
    """A call of a tool, or with *is_result* what it answered.

    *key* is the id of its node in the export, blank if it is a part of another one; *kind* is what it is left out as,
    blank of a call whose text is shown in the message, which needs no step.
    """

    key: str
    name: str
    text: str
    call_id: str = ""
    is_result: bool = False
    kind: str = ""


@dataclass(slots=True)
class PairedUses:
    """*steps* are calls and results in turns, *also* the nodes of further results; *left* are halves of pairs."""

    steps: list[tuple[str, PromptMessage]] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    left: list[ToolUse] = field(default_factory=list)
    cut: int = 0


@dataclass(slots=True)
class _Pair:
    call: ToolUse
    results: list[ToolUse] = field(default_factory=list)


def pair_uses(uses: Sequence[ToolUse]) -> PairedUses:
    """Return *uses*, which led to one reply, as its steps."""
    found = PairedUses()
    pairs: list[_Pair] = []
    for use in uses:
        if not use.is_result:
            pairs.append(_Pair(use))
        elif pair := _find_call(pairs, use):
            pair.results.append(use)
        else:
            found.left.append(use)
    for number, pair in enumerate(pairs):
        if not pair.results or not pair.call.kind:
            found.left += [pair.call, *pair.results] if pair.call.kind else pair.results
            continue
        first, *more = pair.results
        name = NOT_IN_A_NAME.sub("_", pair.call.name)[:LONGEST_NAME] or UNNAMED
        own_id = pair.call.call_id or pair.call.key
        call_id = own_id if 0 < len(own_id) <= MOST_ID_CHARACTERS else f"call_{number}"
        result = "\n\n".join(filter(None, (each.text for each in pair.results)))
        found.cut += (len(pair.call.text) > LONGEST_ARGUMENTS) + (len(result) > LONGEST_RESULT)
        call = PromptToolCall(call_id, name, _arguments(pair.call.text))
        try:
            messages = (
                clean_message(PromptMessage("assistant", "", tool_calls=(call,))),
                clean_message(PromptMessage("tool", _shortened(result, LONGEST_RESULT), tool_call_id=call_id)),
            )
        except InvalidHistory:  # its id is nothing that could be stored
            found.left += [pair.call, *pair.results]
            continue
        found.steps += zip((pair.call.key, first.key), messages, strict=True)
        found.also += [each.key for each in more if each.key]
    return found


def drop_unasked_steps(conversation: ImportedConversation) -> None:
    """Leave out the steps of replies that follow no message: a step stands between a question and its reply."""
    for message in conversation.messages:
        if message.steps and message.parent is None:
            nodes = sum(1 for key, _ in message.steps if key)
            conversation.left_out.update({TOOLS: nodes} if nodes else {})
            conversation.missing.update({TOOL_PARTS: len(message.steps) - nodes} if nodes < len(message.steps) else {})
            message.steps = []


def _find_call(pairs: list[_Pair], result: ToolUse) -> _Pair | None:
    if result.call_id:
        return next((pair for pair in pairs if pair.call.call_id == result.call_id), None)
    alike = [pair for pair in pairs if not result.name or pair.call.name == result.name]
    waiting = [pair for pair in alike or pairs[-1:] if not pair.results]
    return next(iter(waiting or alike[-1:]), None)


def _arguments(text: str) -> str:
    """Return *text* as providers take it: the JSON of an object."""
    if len(text) <= LONGEST_ARGUMENTS and is_object(text):
        return text
    return json.dumps({"input": _shortened(text, LONGEST_ARGUMENTS)}, ensure_ascii=False) if text else "{}"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + CUT


def as_arguments(given: Any) -> str:
    """Return the arguments of a call as text, where an export has them as JSON or as text."""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given is not None else ""


def as_result(given: Any) -> str:
    """Return the text of a result: a text, or a list of parts, of which those without a text are JSON."""
    if isinstance(given, str):
        return given
    return "\n\n".join(filter(None, (_part_text(part) for part in as_list(given)))) if given else ""


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    about = as_mapping(part)
    if isinstance(about.get("text"), str):
        return "\n".join(filter(None, (as_text(about.get(name)) for name in ("title", "url", "text"))))
    if "image" in as_text(about.get("type")):
        return "[Picture]"
    return json.dumps(part, ensure_ascii=False)
