"""Pairs of our estimate and the provider's report, from the ledger."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db.models import BooleanField, ExpressionWrapper, Q

from conversations.core.window.calibration import NEWEST_PAIRS, Pair, smallest_prompt_tokens
from conversations.models import Completion

LOOKED_AT = 1_000  # the newest, whether they teach something or not: short chats must not make the search long

_HAS_TOOLS = ExpressionWrapper(Q(tool_schemas__isnull=False), output_field=BooleanField())


@dataclass(frozen=True, slots=True)
class ReportedPrompt:
    """A completion whose usage the provider reported. Tool schemas are rendered as each provider likes."""

    completion_id: int
    created_at: dt.datetime
    pair: Pair
    has_tools: bool

    def teaches(self, *, context_window_tokens: int) -> bool:
        """Tell whether it says something about the language model's tokens in prompts that are long."""
        return not self.has_tools and self.pair.estimated_tokens >= smallest_prompt_tokens(context_window_tokens)


def reported_prompts(language_model: str) -> list[ReportedPrompt]:
    """Return the newest completions of that language model whose usage was reported, newest first, in one query."""
    reported = Completion.objects.filter(language_model=language_model, usage_estimated=False).order_by("-id")
    columns = ("id", "created_at", "estimated_input_tokens", "input_tokens")
    return [
        ReportedPrompt(completion_id, created_at, Pair(estimated_tokens, reported_tokens), has_tools)
        for completion_id, created_at, estimated_tokens, reported_tokens, has_tools in reported.annotate(
            has_tools=_HAS_TOOLS
        ).values_list(*columns, "has_tools")[:LOOKED_AT]
    ]


def teaching_pairs(prompts: list[ReportedPrompt], *, context_window_tokens: int) -> list[Pair]:
    """Return the newest pairs that the ratio is learned from."""
    teaching = [each.pair for each in prompts if each.teaches(context_window_tokens=context_window_tokens)]
    return teaching[:NEWEST_PAIRS]
