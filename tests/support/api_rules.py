"""Rules of `/v1` that no JSON Schema says: what the API refuses by them."""

from __future__ import annotations

import re

# What no schema says, and the description says in words.
RULES = re.compile(
    "there is no message of the user|the newest message of the user is empty"
    "|after the last message of the user only tool calls and their results may stand"
    "|it answers no (tool|function) call right before it|has no (result|output) after it"
    "|two calls have the same id|two outputs answer the same call|two have the same name"
    "|it names none of the tools|there are no tools"
    "|it goes only with (stream|store): true|conversation says the same|max_completion_tokens says the same"
    "|it has characters that no text has|there is no stored item with this id|at least one is needed"
)
