"""The sampling parameters of a scenario: JSON that goes to the provider as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

# The window, the tools and the ledger decide about these; as sampling they would make the record untrue.
RESERVED = {
    "functions",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "prompt_cache_key",
    "stream",
    "stream_options",
    "tool_choice",
    "tools",
    "user",
}
MOST_CHARACTERS = 10_000
MOST_LEVELS = 20


def check_sampling(value: Any) -> None:
    """Raise a `ValidationError` unless PostgreSQL can store *value* and a provider may be sent it."""
    if not isinstance(value, dict):
        raise ValidationError(_('Write a JSON object, such as {"temperature": 0.2}.'))
    check_levels(value)
    if reserved := sorted(RESERVED & value.keys()):
        raise ValidationError(_("Windowseat sets these itself: %(names)s."), params={"names": ", ".join(reserved)})
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except ValueError:
        raise ValidationError(_("Numbers must be finite, and text must be text.")) from None
    if "\\u0000" in text:
        raise ValidationError(_("Text must not contain NUL characters."))
    if len(text) > MOST_CHARACTERS:
        raise ValidationError(_("At most %(most)s characters fit here."), params={"most": f"{MOST_CHARACTERS:,}"})


def check_levels(value: Any) -> None:
    """Raise a `ValidationError` if parsed JSON is nested so deeply that nobody means it, and writing it may fail."""
    if not _has_at_most([value], MOST_LEVELS):
        raise ValidationError(_("This is nested too deeply."))


def _has_at_most(values: Iterable[Any], levels: int) -> bool:
    inner = [value.values() if isinstance(value, dict) else value for value in values if isinstance(value, dict | list)]
    return not inner or (levels > 0 and all(_has_at_most(each, levels - 1) for each in inner))
