"""What the demo model answers once tools have been called for a question: it quotes what came of each."""

from __future__ import annotations

import json
import re

from conversations.core.errors import CallRefused, ToolError
from conversations.core.window.truncation import CUT_MARK

from .choose_tools import CALCULATOR, CLOCK
from .demo_prompt import DemoPrompt, Result
from .phrases import phrases_for

LONGEST_RESULT_CHARACTERS = 1_200
_FOR_MACHINES = re.compile(r" \(\d{4}-\d\d-\d\dT[^)]{0,40}\)$")
KINDS: list[type[ToolError]] = [ToolError, *ToolError.__subclasses__()]
FAILURES = tuple(kind.template for kind in KINDS)


def answer_from_results(prompt: DemoPrompt) -> str | None:
    """Return the answer, a paragraph or more for each call; None where nothing was called."""
    phrases = phrases_for(prompt.question)
    return "\n\n".join(_told(result, phrases) for result in prompt.results) or None


def _told(result: Result, phrases: dict[str, str]) -> str:
    text = result.text.strip()
    if text.startswith(CallRefused.template):
        return phrases["tool_refused"].format(tool=result.call.name)
    if text.startswith(FAILURES):
        return phrases["tool_failed"].format(tool=result.call.name, quote=_shortened(text))
    if not text:
        return phrases["tool_silent"].format(tool=result.call.name)
    if result.call.name in (CALCULATOR, CLOCK) and "\n" not in text:
        return _briefly(result, text, phrases)
    return phrases["tool_answered"].format(tool=result.call.name) + "\n\n" + _as_quotation(text, phrases)


def _briefly(result: Result, text: str, phrases: dict[str, str]) -> str:
    if result.call.name == CLOCK:
        return phrases["clock"].format(time=_FOR_MACHINES.sub("", text))
    asked = _only_argument(result.call.arguments)
    told = text if not asked or "=" in text else f"{asked} = {text}"
    return phrases["sum"].format(sum=told.replace("*", r"\*"))


def _only_argument(arguments: str) -> str:
    values = list(json.loads(arguments).values())
    return values[0] if len(values) == 1 and isinstance(values[0], str) else ""


def _as_quotation(text: str, phrases: dict[str, str]) -> str:
    is_cut = text.endswith(CUT_MARK) or len(text) > LONGEST_RESULT_CHARACTERS
    lines = (line.strip() for line in _shortened(text).splitlines())
    quotation = "\n".join(f"> {line}  " if line else ">" for line in lines)  # two spaces keep lines apart
    return f"{quotation}\n\n{phrases['tool_cut']}" if is_cut else quotation


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_RESULT_CHARACTERS else f"{text[:LONGEST_RESULT_CHARACTERS]} …"
