"""The sampling parameters of a scenario: JSON that goes to the provider as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

# The window, the tools and the ledger decide about these; as sampling they would make the record untrue.
RESERVED = {
    "background",
    "conversation",
    "functions",
    "include",
    "input",
    "instructions",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "store",
    "stream",
    "stream_options",
    "tool_choice",
    "tools",
    "truncation",
    "user",
}
# How tokens are chosen, and how much is thought. Other fields can name more expensive language models, buy searches, or
# add to the prompt what is not counted or cut what must be in it: they are for the site's own scenarios.
FOR_PEOPLE = {
    "enable_thinking",
    "frequency_penalty",
    "logit_bias",
    "min_p",
    "presence_penalty",
    "reasoning_effort",
    "repeat_penalty",
    "repetition_penalty",
    "seed",
    "stop",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    "verbosity",
}
MOST_CHARACTERS = 10_000
MOST_LEVELS = 20


def check_sampling(value: Any) -> None:
    """Raise a `ValidationError` unless PostgreSQL can store *value* and a provider may be sent it."""
    if not isinstance(value, dict):
        raise ValidationError(_('Enter a JSON object, such as {"temperature": 0.2}.'))
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


def check_it_is_for_people(value: Mapping[str, Any], *, kept: Mapping[str, Any]) -> None:
    """Raise a `ValidationError` if *value* has a field that people may not set themselves, but as it is *kept*."""
    if others := sorted(name for name in value.keys() - FOR_PEOPLE if name not in kept or kept[name] != value[name]):
        words = _("Only the site’s own scenarios can set these: %(names)s. Yours can set: %(offered)s.")
        offered = ", ".join(sorted(FOR_PEOPLE))
        raise ValidationError(words, params={"names": ", ".join(others)[:200], "offered": offered})


def check_levels(value: Any) -> None:
    """Raise a `ValidationError` if parsed JSON is nested too deeply to be meant; writing it may fail."""
    if not _has_at_most([value], MOST_LEVELS):
        raise ValidationError(_("This is nested too deeply."))


def _has_at_most(values: Iterable[Any], levels: int) -> bool:
    inner = [value.values() if isinstance(value, dict) else value for value in values if isinstance(value, dict | list)]
    return not inner or (levels > 0 and all(_has_at_most(each, levels - 1) for each in inner))
