"""The window record of a completion, as parts and rows that a person can read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from conversations.core.money.cost_drivers import CostDriver, LastRequest, is_expensive, main_cost_driver
from conversations.core.window.window_record import EntryKind, LeftOutMessage, Part, WindowEntry, WindowRecord
from conversations.models import Completion
from conversations.models.message import MessageRole
from conversations.window_policies import policy_choices
from conversations.wording.window_labels import LEFT_OUT_LABELS, PART_LABELS

KINDS: dict[EntryKind, Promise] = {
    "system": _("System prompt"),
    "about_me": _("Notes about the user"),
    "notes": _("Notes on the conversation"),
    "pin": _("Pinned messages"),
    "summary": _("Summary"),
    "older": _("Older messages"),
    "newest": _("Newest message"),
    "tool_step": _("Tool steps"),
    "text_so_far": _("Reply so far"),
    "continue_request": _("Request to go on"),
}
ROLES = {"system": pgettext_lazy("who says a message", "System"), **dict(MessageRole.choices)}
Slice = tuple[str, str, int, tuple[WindowEntry, ...]]


@dataclass(frozen=True)
class ShownPart:
    """A part of the prompt: consecutive entries of one kind. *start* and *width* are per mille of the budget."""

    kind: str
    label: str
    tokens: int
    entries: tuple[WindowEntry, ...]
    start: int
    width: int

    @property
    def positions(self) -> str:
        """Where its messages stand in the conversation, counted from 1 as people do."""
        positions = [entry.position + 1 for entry in self.entries if entry.position is not None]
        if not positions:
            return ""
        first, last = min(positions), max(positions)
        return str(first) if first == last else f"{first} – {last}"


class ShownWindow:
    """The window of *completion*, as the admin shows it."""

    def __init__(self, completion: Completion) -> None:
        self.completion = completion

    @cached_property
    def record(self) -> WindowRecord | None:
        """None where there is no window: a title has none."""
        try:
            return WindowRecord.from_json(self.completion.window) if self.completion.window else None
        except (KeyError, TypeError):
            return None

    @property
    def cost_driver(self) -> CostDriver | None:
        """What most of this one request was spent on, if it was expensive."""
        row = self.completion
        if row.cost_usd is None or not is_expensive(row.cost_usd):
            return None
        parts: dict[Part, int] = {}
        if self.record:
            parts = {part: tokens for part, tokens in self.record.parts.items() if part != "free"}
        return main_cost_driver(
            row.cost_usd, 1, LastRequest(row.cost_usd, parts, row.output_tokens or 0, row.output_price_usd)
        )

    @cached_property
    def parts(self) -> list[ShownPart]:
        """The parts of the prompt, in its order; their tokens add up to the prompt's."""
        parts: list[ShownPart] = []
        start = 0
        for kind, label, tokens, entries in _slices(self.record) if self.record else ():
            parts.append(ShownPart(kind, label, tokens, entries, self._per_mille(start), self._per_mille(tokens)))
            start += tokens
        return parts

    def _per_mille(self, tokens: int) -> int:
        return round(1000 * tokens / max(self.record.budget_tokens, 1)) if self.record else 0

    @property
    def percent(self) -> int:
        return round(self._per_mille(self.record.prompt_tokens) / 10) if self.record else 0

    @property
    def free_tokens(self) -> int:
        return self.record.budget_tokens - self.record.prompt_tokens if self.record else 0

    @property
    def entries(self) -> list[tuple[WindowEntry, str, str]]:
        """The messages of the prompt, each with the labels of its kind and its role."""
        entries = self.record.entries if self.record else ()
        return [(entry, str(KINDS[entry.kind]), role_label(entry.role)) for entry in entries]

    @property
    def left_out(self) -> list[tuple[LeftOutMessage, Promise | str]]:
        """The messages that were considered and not sent, each with the label of the reason."""
        left_out = self.record.left_out if self.record else ()
        return [(message, LEFT_OUT_LABELS.get(message.reason, message.reason)) for message in left_out]

    @property
    def policy(self) -> str:
        """The label of the window policy, as scenarios offer it."""
        name = str(self.record.policy.get("name", "")) if self.record else ""
        return policy_choices().get(name, name)

    @property
    def estimate_difference(self) -> int | None:
        """By how many tokens the provider's count is above ours; None where it gave none."""
        if self.completion.input_tokens is None or self.completion.usage_estimated:
            return None
        return self.completion.input_tokens - self.completion.estimated_input_tokens


def role_label(role: str) -> str:
    return str(ROLES.get(role, role))


def _slices(record: WindowRecord) -> Iterator[Slice]:
    if record.tool_schema_tokens:
        yield "tools", gettext("Tool schemas"), record.tool_schema_tokens, ()
    for kind, group in groupby(record.entries, key=lambda entry: entry.kind):
        entries = tuple(group)
        tokens = sum(entry.tokens for entry in entries)
        if kind == "newest" and record.grounding.tokens:
            yield "grounding", gettext("Passages"), record.grounding.tokens, ()
            tokens -= record.grounding.tokens
        if kind == "newest" and record.recall.tokens:
            yield "recall", str(PART_LABELS["recall"]), record.recall.tokens, ()
            tokens -= record.recall.tokens
        yield kind, str(KINDS[kind]), tokens, entries
    yield "priming", gettext("Reply priming"), record.priming_tokens, ()
