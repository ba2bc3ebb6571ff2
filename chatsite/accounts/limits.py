"""Limits of a user: messages, replies, uploads and money. The narrowest rule counts: user, role, site, settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from django.conf import settings
from django.db import connection
from django.db.models import Q

from chatsite.accounts.models import Limits, SiteBudget, User

Origin = Literal["user", "role", "site", "settings"]
Value = int | Decimal | None
NARROWEST_FIRST: tuple[Origin, ...] = ("user", "role", "site", "settings")


@dataclass(frozen=True, slots=True)
class EffectiveLimits:
    """The limits of one user. None is without limit, 0 allows nothing; money is for a day and a month of UTC.

    *origins*: name of a limit → where it comes from. *site_budget* is what all users together may spend, if it was read
    and there is one.
    """

    messages_per_minute: int | None
    replies_at_once: int | None
    message_tokens: int | None
    uploads_per_day: int | None
    upload_kilobytes: int | None
    money_per_day_usd: Decimal | None
    money_per_month_usd: Decimal | None
    origins: Mapping[str, Origin]
    site_budget: SiteBudget | None = None


LIMITS = tuple(name for name in EffectiveLimits.__slots__ if name not in ("origins", "site_budget"))
MONEY = tuple(name for name in LIMITS if name.startswith("money"))

# In SQL: every message asks, and every request to a provider. The role is read too: the one in memory may be outdated.
LIMIT_ROWS = f"""
SELECT CASE WHEN user_id IS NOT NULL THEN 'user' WHEN role IS NOT NULL THEN 'role' ELSE 'site' END AS origin,
       {", ".join(LIMITS)}
FROM accounts_limits
WHERE user_id = %(user)s
   OR user_id IS NULL AND (role IS NULL OR role = (SELECT role FROM accounts_user WHERE id = %(user)s))
UNION ALL
SELECT 'budget', {", ".join(name if name in MONEY else "NULL" for name in LIMITS)} FROM accounts_sitebudget
"""  # noqa: S608  # constants of this file


def effective_limits(user: User) -> EffectiveLimits:
    """Return the limits of *user* now, and the site's budget: one statement."""
    with connection.cursor() as cursor:
        cursor.execute(LIMIT_ROWS, {"user": user.pk})
        rules = {origin: dict(zip(LIMITS, values, strict=True)) for origin, *values in cursor.fetchall()}
    budget = rules.pop("budget", None)
    return _resolve(rules, site_budget=SiteBudget(**{name: budget[name] for name in MONEY}) if budget else None)


def settings_limits() -> EffectiveLimits:
    """Return the limits of every user where no limit and no budget is stored."""
    return _resolve({})


def inherited_limits(limits: Limits) -> EffectiveLimits:
    """Return the limits that apply where *limits*, of a user, a role or the site, are empty."""
    user = limits.user if limits.user_id is not None else None
    if user is not None:
        wider = Q(role=user.role) | Q(role=None)
    else:
        # A row that is not stored yet is a role's, unless there is none of the site.
        wider = Q(role=None) if limits.role or limits.pk is None else Q(pk=None)
    rows = Limits.objects.filter(wider, user=None)
    return _resolve({_origin(row): {name: getattr(row, name) for name in LIMITS} for row in rows})


def _resolve(rules: Mapping[Origin, Mapping[str, Value]], *, site_budget: SiteBudget | None = None) -> EffectiveLimits:
    """Return each limit by the narrowest rule that sets it."""
    rules = {"settings": _settings_rule(), **rules}
    origins = {name: _narrowest(name, rules) for name in LIMITS}
    values = {name: rules[origins[name]][name] for name in LIMITS}
    return EffectiveLimits(**values, origins=origins, site_budget=site_budget)  # type: ignore[arg-type]


def _narrowest(name: str, rules: Mapping[Origin, Mapping[str, Value]]) -> Origin:
    """Return the narrowest rule that sets the limit."""
    return next(
        (origin for origin in NARROWEST_FIRST if rules.get(origin, {}).get(name) is not None),
        "settings",
    )


def _origin(row: Limits) -> Origin:
    if row.user_id is not None:
        return "user"
    return "role" if row.role else "site"


def _settings_rule() -> dict[str, Value]:
    """Return the limits of the settings, of which 0 messages a minute, and 0 replies at once, mean no limit."""
    money = settings.MONEY_PER_DAY_USD
    return dict.fromkeys(LIMITS) | {
        "messages_per_minute": settings.MESSAGES_PER_MINUTE or None,
        "replies_at_once": settings.REPLIES_PER_USER or None,
        "money_per_day_usd": None if money is None else Decimal(str(money)),
    }
