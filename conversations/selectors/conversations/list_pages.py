"""Pages of a list of conversations: where one ends, and what the next one has.

Moments may be equal: an import of conversations without dates gives all of them one, and so does a deletion of several.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

from django.db.models import QuerySet

from conversations.models import Conversation

BETWEEN = "~"
Listed = TypeVar("Listed", bound=Conversation)
ACTIVE, DELETED = "last_active_at", "deleted_at"  # by which a list is sorted, the newest first


class HasPublicId(Protocol):
    """A row of a list."""

    @property
    def public_id(self) -> uuid.UUID: ...


class PageEnd(NamedTuple):
    """The last conversation of a page. Its text is fit for an address."""

    moment: dt.datetime
    public_id: uuid.UUID

    def __str__(self) -> str:
        return f"{self.moment.isoformat().replace('+00:00', 'Z')}{BETWEEN}{self.public_id.hex}"

    @classmethod
    def of(cls, page: Sequence[HasPublicId], *, limit: int, by: str = ACTIVE) -> Self | None:
        """Return the end of a full page; None where no other can follow."""
        return cls(getattr(page[-1], by), page[-1].public_id) if page and len(page) == limit else None


def read_page(found: QuerySet[Listed], *, before: PageEnd | None, limit: int | None, by: str = ACTIVE) -> list[Listed]:
    """Return the first of *found*, or those that follow the end of another page."""
    if before is not None:
        found = that_follow(found, before, by=by)
    return list(newest_first(found, by=by)[:limit])


def that_follow(found: QuerySet[Listed], end: PageEnd, *, by: str = ACTIVE) -> QuerySet[Listed]:
    """Return those of *found* that follow the *end* of a page."""
    there = {by: end.moment, "public_id__gte": end.public_id}
    return found.filter(**{f"{by}__lte": end.moment}).exclude(**there)


def newest_first(found: QuerySet[Listed], *, by: str = ACTIVE) -> QuerySet[Listed]:
    return found.order_by(f"-{by}", "-public_id")
