"""What a person may send and spend: the person's row speaks first, then the role's, the site's, then the settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from django.conf import settings
from django.db.models import Q

from chatsite.accounts.models import Limits, User

Origin = Literal["person", "role", "site", "settings"]
Value = int | Decimal | None
NARROWEST_FIRST: tuple[Origin, ...] = ("person", "role", "site", "settings")


@dataclass(frozen=True, slots=True)
class EffectiveLimits:
    """What holds for one person. None is without limit, 0 allows nothing; money is for a day and a month of UTC.

    *origins*: name of a limit → what it comes from.
    """

    messages_per_minute: int | None
    replies_at_once: int | None
    message_tokens: int | None
    uploads_per_day: int | None
    upload_kilobytes: int | None
    money_per_day_usd: Decimal | None
    money_per_month_usd: Decimal | None
    origins: Mapping[str, Origin]


LIMITS = tuple(name for name in EffectiveLimits.__slots__ if name != "origins")


def effective_limits(user: User) -> EffectiveLimits:
    """Return what holds for *user* now, with one statement. It asks for the role too: the one in hand may be old."""
    role = User.objects.filter(pk=user.pk).values("role")
    return _resolve(Limits.objects.filter(Q(user=user.pk) | Q(user=None) & (Q(role__in=role) | Q(role=None))))


def inherited_limits(limits: Limits) -> EffectiveLimits:
    """Return what would hold where *limits*, which may be of a person, a role or the site, say nothing."""
    if limits.user_id is not None:
        wider = Q(role=limits.user.role) | Q(role=None)
    else:
        # A row that is not stored yet is a role's, unless there is none of the site.
        wider = Q(role=None) if limits.role or limits.pk is None else Q(pk=None)
    return _resolve(Limits.objects.filter(wider, user=None))


def _resolve(rows: Iterable[Limits]) -> EffectiveLimits:
    says = {"settings": _of_settings()} | {_origin(row): {name: getattr(row, name) for name in LIMITS} for row in rows}
    origins = {name: _origin_of(name, says) for name in LIMITS}
    return EffectiveLimits(**{name: says[origins[name]][name] for name in LIMITS}, origins=origins)


def _origin_of(name: str, says: Mapping[Origin, Mapping[str, Value]]) -> Origin:
    """Return which of those that say something about the limit is the narrowest."""
    return next(
        (origin for origin in NARROWEST_FIRST if says.get(origin, {}).get(name) is not None),
        "settings",
    )


def _origin(row: Limits) -> Origin:
    if row.user_id is not None:
        return "person"
    return "role" if row.role else "site"


def _of_settings() -> dict[str, Value]:
    """Of the settings, 0 messages a minute are without limit."""
    money = settings.MONEY_PER_DAY_USD
    return dict.fromkeys(LIMITS) | {
        "messages_per_minute": settings.MESSAGES_PER_MINUTE or None,
        "money_per_day_usd": None if money is None else Decimal(str(money)),
    }
