"""Colours of the states, as Unfold's `display(label=…)` takes them. What ended well stays grey: exceptions show.

And the classes that Unfold gives its own links.
"""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.admin.base_admin import StateColours
from conversations.models.message import MessageState

STATES = StateColours(
    streaming="info",
    running="info",
    waiting="info",
    unfinished="info",
    asking="info",
    asks="info",
    ready="info",
    refused="warning",
    stopped="warning",
    interrupted="warning",
    failed="danger",
    deleted="danger",
)

PRICES = StateColours({"in force": "success", "to come": "info"})

# What is known of a conversation or of a completion: the states of its last message, and others.
IN_WORDS: dict[str, Promise | str] = {
    **dict(MessageState.choices),
    "archived": _("Archived"),
    "deleted": _("Deleted"),
    "empty": _("Empty"),
    "succeeded": _("Succeeded"),
    "unfinished": _("Unfinished"),
}

LINK = "text-primary-600 dark:text-primary-500"
