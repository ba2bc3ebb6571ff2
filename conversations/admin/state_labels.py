"""Labels of states and their colours, as Unfold's `display(label=…)` takes them, and the classes of Unfold's links.

States that ended well stay grey, so that exceptions show.
"""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.admin.base_admin import StateColours
from conversations.models.message import MessageState

STATE_COLOURS = StateColours(
    streaming="info",
    running="info",
    waiting="info",
    unfinished="info",
    awaiting_approval="info",
    ready="info",
    refused="warning",
    stopped="warning",
    interrupted="warning",
    failed="danger",
    deleted="danger",
    bad="warning",
)

PRICE_COLOURS = StateColours({"valid now": "success", "upcoming": "info"})

# States of a conversation, which are those of its last message and others, and of a completion.
STATE_LABELS: dict[str, Promise | str] = {
    **dict(MessageState.choices),
    "archived": _("Archived"),
    "deleted": _("Deleted"),
    "empty": _("Empty"),
    "succeeded": _("Succeeded"),
    "unfinished": _("Unfinished"),
}

LINK_CLASS = "text-primary-600 dark:text-primary-500"
