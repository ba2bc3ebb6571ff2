"""What must hold for the summary in a request: asked of its messages as they were sent, and of the window's record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conversations.core.prompt.summary_text import SUMMARY_HEADER
from conversations.core.window.compute_window import Turn
from conversations.core.window.policies import WindowPolicy
from conversations.core.window.window_record import WindowRecord


@dataclass(frozen=True, slots=True)
class SentSummary:
    """The *messages* of a request body, with the record of its window, and what it was made from."""

    messages: Sequence[Mapping[str, Any]]
    record: WindowRecord
    turn: Turn
    policy: WindowPolicy

    def findings(self) -> Iterator[str]:
        """Yield the goals that are missed."""
        if not self._is_within_share():
            yield "summary_over_share"
        if not self._is_where_it_belongs():
            yield "summary_misplaced"

    @property
    def _tokens(self) -> int:
        return sum(entry.tokens for entry in self.record.entries if entry.kind == "summary")

    def _is_within_share(self) -> bool:
        """Tell whether it is within the policy's cap, and half of what any request has left for older messages."""
        record = self.record
        cap_tokens = self.policy.summary_cap_tokens if self.policy.summarises else 0
        always = sum(entry.tokens for entry in record.entries if entry.kind in ("system", "pin"))
        lasting_tokens = record.budget_tokens - record.priming_tokens - record.tool_schema_tokens - always
        return self._tokens <= cap_tokens and 2 * self._tokens <= lasting_tokens if self._tokens else True

    def _is_where_it_belongs(self) -> bool:
        """Tell whether it is there once, behind system prompt and pins, and only if something has left the window."""
        places = [place for place, each in enumerate(self.messages) if self._is_summary(each)]
        if not places:
            return self.record.summary is None or bool(self.record.summary.left_out)
        before = {entry.kind for entry in self.record.entries[: places[0]]}
        behind = {entry.kind for entry in self.record.entries[places[0] + 1 :]}
        is_in_order = before <= {"system", "pin"} and not behind & {"system", "pin"}
        return len(places) == 1 and is_in_order and self.record.first_position > 0

    def _is_summary(self, message: Mapping[str, Any]) -> bool:
        return message["role"] == "user" and message["content"].startswith(f"{SUMMARY_HEADER}\n\n")
