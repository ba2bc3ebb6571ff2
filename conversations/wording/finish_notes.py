"""What is said under a reply that its provider did not end as usual, in the language of its reader."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_noop

from conversations.core.prompt.finish_reasons import end_of

_NOTES = {
    "length": gettext_noop("Cut off here: the reply reached its length limit."),
    "filter": gettext_noop("Cut off here by the provider’s content filter."),
    "refusal": gettext_noop("Cut off here: the model declined to go on."),
    "error": gettext_noop("Cut off here: the provider reported an error. Try again."),
    "unknown": gettext_noop("Perhaps cut off here: the provider ended the reply with the reason “%(reason)s”."),
}


def finish_note(finish_reason: str) -> str:
    """Return the sentence, or nothing where the reply is whole."""
    note = _NOTES.get(end_of(finish_reason))
    return gettext(note) % {"reason": finish_reason} if note else ""
