"""`{% retention_of %}`: how long conversations are kept, for the account page, which knows no conversations."""

from __future__ import annotations

from typing import Any

from django import template
from django.conf import settings

from chatsite.accounts.models import User
from conversations.selectors.retention.deadlines import rules_for
from conversations.selectors.retention.holds import holds_about
from conversations.selectors.retention.notices import list_deleted_soon, retention_notices

register = template.Library()


@register.simple_tag
def retention_of(user: User) -> dict[str, Any]:
    """Return the rules that apply to the user, what is deleted soon, and the holds in force; empty without any."""
    days, rules = rules_for(user)
    next_ones, holds = list_deleted_soon(user, limit=1), holds_about(user.pk)
    if not (days or rules or next_ones or holds):
        return {}
    return {
        "days": days,
        "rules": rules,
        "notice_days": settings.RETENTION_NOTICE_DAYS,
        "soon": retention_notices(user).deleted_soon,
        "next": next_ones[0] if next_ones else None,
        "holds": holds,
    }
