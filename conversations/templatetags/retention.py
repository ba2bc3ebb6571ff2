"""`{% retention_card %}`: how long conversations are kept, for the account page, which knows no conversations."""

from __future__ import annotations

from typing import Any

from django import template
from django.conf import settings

from chatsite.accounts.models import User
from conversations.selectors.retention.deadlines import rules_for
from conversations.selectors.retention.holds import holds_about
from conversations.selectors.retention.notices import list_deleted_soon, retention_notices

register = template.Library()


@register.inclusion_tag("account/_retention.html")
def retention_card(user: User) -> dict[str, Any]:
    """Show the rules that apply to the user, what is deleted soon, and the holds in force."""
    days, rules = rules_for(user)
    soon = list_deleted_soon(user, limit=1)
    return {
        "days": days,
        "rules": rules,
        "notice_days": settings.RETENTION_NOTICE_DAYS,
        "soon": retention_notices(user).deleted_soon,
        "next": soon[0] if soon else None,
        "holds": holds_about(user),
    }
