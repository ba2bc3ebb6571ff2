"""Continuing a reply that was cut off: when it may be, and what asks the language model to go on.

    question · what the reply says so far, as the assistant's message · this request, as a user's message

An assistant's message at the end of a prompt would be shorter, but servers disagree about it: some go on from it (vLLM
with `continue_final_message`, DeepSeek and Mistral with `prefix`, older models of Anthropic), some refuse it (Anthropic
from 4.6 on, Mistral without `prefix`), and others begin a new answer. A request for more is understood by all.
"""

from __future__ import annotations

from typing import Final

from conversations.core.errors import MalformedStream, ProviderTimedOut, ProviderUnavailable, StreamBroken

from .finish_reasons import end_of

CONTINUE_REQUEST: Final = (
    "Your answer above was cut off. Continue it exactly where it stopped: what you write now is put directly behind "
    "it. Begin with the next characters, also if they are the rest of a word, a space or a line break. Do not repeat "
    "anything, do not begin again, and say nothing about the interruption."
)
# A reply that failed for one of these was on its way; after others more of it would fail, too.
CUT_OFF_BY: Final = frozenset(
    error.code for error in (StreamBroken, ProviderTimedOut, ProviderUnavailable, MalformedStream)
)


def may_be_continued(*, content: str, state: str, error_code: str, finish_reason: str) -> bool:
    """Tell whether a reply has *content* and was cut off: interrupted, by a fault of the provider, or by its length.

    *finish_reason* is that of its last request.
    """
    if not content.strip():
        return False
    if state == "complete":
        return end_of(finish_reason) == "length"
    return state == "interrupted" or (state == "failed" and error_code in CUT_OFF_BY)
