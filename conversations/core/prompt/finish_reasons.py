"""Why a completion ended: the finish reasons of providers, of which OpenAI's are only the most common.

Checked 2026-11: OpenAI has stop, length, tool_calls, content_filter; Anthropic end_turn, max_tokens, refusal; Gemini
STOP, MAX_TOKENS, SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII; Mistral model_length, error. From documents
only.
"""

from __future__ import annotations

from typing import Literal

LENGTH = "length"  # OpenAI's own, and ours for a reply that we cut
End = Literal["whole", "length", "filter", "refusal", "error", "unknown"]

_ENDS: dict[str, End] = {
    **dict.fromkeys(("", "stop", "stopped", "end_turn", "stop_sequence", "eos", "eos_token", "completed"), "whole"),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), "whole"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"), "filter"),
    **dict.fromkeys(("refusal",), "refusal"),
    **dict.fromkeys(("error", "failed"), "error"),
}


def end_of(finish_reason: str | None) -> End:
    """Return what *finish_reason* says of the reply; it is unknown where we have never read of the reason."""
    return _ENDS.get((finish_reason or "").strip().lower(), "unknown")


def reasons_of(*ends: End) -> set[str]:
    """Return all that providers say for *ends*, in small letters."""
    return {reason for reason, end in _ENDS.items() if end in ends}
