"""The list of a user's conversations."""

from __future__ import annotations

import datetime as dt
import uuid
from enum import Enum
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from django.db.models import (
    BigIntegerField,
    CharField,
    Count,
    DateTimeField,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
    Value,
)

from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.models import Conversation, Document, Folder, Run
from conversations.models.run import RunState
from conversations.selectors.retention.holds import holds_about
from conversations.selectors.retention.notices import NO_NOTICES, RetentionNotices, deleted_soon_of

from .list_pages import PageEnd, newest_first, read_page, that_follow

# Begun by a picture that has not been sent, or by a message that was refused: nothing in it lasts.
HOLDS_NOTHING = Q(
    ~Exists(Document.objects.filter(conversation=OuterRef("pk"))), head=None, title_is_given=False, notes=""
)


class Place(Enum):
    """Where a conversation stands in the list, that it has left it, or anywhere."""

    UNDER_DATES = "dates"
    STARRED = "starred"
    IN_FOLDER = "folder"
    ARCHIVED = "archived"
    ANYWHERE = "anywhere"


PLACES = {
    Place.UNDER_DATES: Q(archived=False, starred=False, folder=None),
    Place.STARRED: Q(archived=False, starred=True),
    Place.IN_FOLDER: Q(archived=False, starred=False),
    Place.ARCHIVED: Q(archived=True),
    Place.ANYWHERE: Q(),
}


def list_conversations(
    user: User,
    place: Place = Place.UNDER_DATES,
    *,
    folder: Folder | None = None,
    before: PageEnd | None = None,
    limit: int | None = 50,
    in_title: str = "",
) -> list[Conversation]:
    """Return the user's conversations of a *place*, most recently active first.

    *before* asks for the page after that end; without a *limit* all are returned.

    One is listed from its first message, document, name or note on; a temporary one is not, unless it is kept. With
    *in_title*, those whose title has it; with a *folder*, those in it.
    """
    if folder is None and limit is not None and not in_title:
        if before is None:
            return _first_page.all(user.pk, place=place, limit=limit)
        return _page_after.all(user.pk, before.moment, before.public_id, place=place, limit=limit)
    if folder is not None and before is None and limit is not None and not in_title:
        return _first_page_of_folder.all(user.pk, folder.pk, place=place, limit=limit)
    found = _listed(user.pk, place)
    if folder is not None:
        found = found.filter(folder=folder)
    if in_title:
        found = found.filter(title__icontains=in_title)
    return read_page(found, before=before, limit=limit)


def _listed(owner_id: int, place: Place) -> QuerySet[Conversation]:
    there = PLACES[place] & Q(owner_id=owner_id, deleted_at=None, temporary_until=None)
    return Conversation.objects.filter(~HOLDS_NOTHING, there)


@compiled_queryset
def _first_page(owner_id: int, *, place: Place, limit: int) -> QuerySet[Conversation]:
    return newest_first(_listed(owner_id, place))[:limit]


@compiled_queryset
def _page_after(
    owner_id: int, moment: dt.datetime, public_id: uuid.UUID, *, place: Place, limit: int
) -> QuerySet[Conversation]:
    return newest_first(that_follow(_listed(owner_id, place), PageEnd(moment, public_id)))[:limit]


@compiled_queryset
def _first_page_of_folder(owner_id: int, folder_id: int, *, place: Place, limit: int) -> QuerySet[Conversation]:
    return newest_first(_listed(owner_id, place).filter(folder=folder_id))[:limit]


STARRED_INSIDE = Count(
    "conversations",
    filter=Q(conversations__starred=True, conversations__archived=False, conversations__deleted_at=None),
)


def list_folders(user: User) -> list[Folder]:
    """Return the user's folders with how many starred conversations each has, for `starred_in_folder`."""
    folders = _folders_of.all(user.pk)
    for folder in folders:
        folder.owner = user  # loaded already, so it is not read again
    return folders


@compiled_queryset
def _folders_of(owner_id: int) -> QuerySet[Folder]:
    return Folder.objects.filter(owner_id=owner_id).annotate(starred_inside=STARRED_INSIDE)


def starred_in_folder(folder: Folder) -> int:
    """Return how many conversations of the folder the list has under “Starred”."""
    known: int | None = getattr(folder, "starred_inside", None)
    return folder.conversations.filter(PLACES[Place.STARRED], deleted_at=None).count() if known is None else known


class ListedConversation(NamedTuple):
    """A conversation with what the list shows of it."""

    public_id: uuid.UUID
    title: str
    last_active_at: dt.datetime
    starred: bool
    archived: bool
    folder_id: int | None


LISTED = ListedConversation._fields
BESIDE_LIST = "beside"


class ActiveConversation(NamedTuple):
    """A listed conversation with a reply that is being made, or that awaits approval of a tool call."""

    public_id: uuid.UUID
    title: str
    last_active_at: dt.datetime
    starred: bool
    archived: bool
    folder_id: int | None
    state: str

    @property
    def awaits_approval(self) -> bool:
        return self.state == RunState.AWAITING_APPROVAL


class FirstOfList(NamedTuple):
    """What the first page of the list has: those *under_dates* and *starred*, the newest first, and those *active*.

    Folders are read only if it *has_folders*.
    """

    under_dates: list[ListedConversation]
    starred: list[ListedConversation]
    active: list[ActiveConversation]
    has_folders: bool
    notices: RetentionNotices


def first_of_list(owner_id: int, *, under_dates: int, starred: int) -> FirstOfList:
    """Return all of it with one statement: at most so many of the first two, as `list_conversations` finds them.

    And all `active_conversations`, and the owner's `retention_notices`.
    """
    rows = _rows_of_first.all(owner_id, under_dates=under_dates, starred=starred)
    in_place: dict[str, list[ListedConversation]] = {Place.UNDER_DATES.value: [], Place.STARRED.value: []}
    active: list[tuple[Any, ...]] = []
    has_folders, notices = False, NO_NOTICES
    for row in rows:
        *columns, part, pk = row
        if part in in_place:
            in_place[part].append(ListedConversation(*columns))
        elif part == BESIDE_LIST:
            _, _, _, has_folders, has_holds, deleted_soon = columns
            notices = RetentionNotices(deleted_soon or 0, has_holds)
        else:
            active.append((pk, ActiveConversation(*row[:-1])))
    for found in in_place.values():
        found.sort(key=attrgetter("last_active_at", "public_id"), reverse=True)
    in_order = [each for _, each in sorted(active, key=itemgetter(0))]
    places = in_place[Place.UNDER_DATES.value], in_place[Place.STARRED.value]
    return FirstOfList(*places, in_order, has_folders, notices)


@compiled_queryset
def _rows_of_first(owner_id: int, *, under_dates: int, starred: int) -> QuerySet[Conversation, tuple[Any, ...]]:
    """Return `LISTED`, the place or the state, and an id; in one row what is `_beside_list`."""

    def first_in(place: Place, limit: int) -> QuerySet[Conversation, tuple[Any, ...]]:
        found = _listed(owner_id, place).annotate(part=Value(place.value, CharField()))
        return newest_first(found).values_list(*LISTED, "part", "pk")[:limit]

    in_places = first_in(Place.UNDER_DATES, under_dates), first_in(Place.STARRED, starred)
    return in_places[0].union(in_places[1], *_runs_of_active(owner_id), _beside_list(owner_id), all=True)


def _beside_list(owner_id: int) -> QuerySet[User, tuple[Any, ...]]:
    """Return a row in which the last three of `LISTED` are: has folders, has holds, how many are deleted soon."""
    soon = deleted_soon_of(owner_id).order_by().values("owner").annotate(count=Count("pk")).values("count")
    owner = User.objects.filter(pk=owner_id).order_by()
    return owner.values_list(
        Value(None, UUIDField()),
        Value("", CharField()),
        Value(None, DateTimeField()),
        Exists(Folder.objects.filter(owner_id=owner_id)),
        Exists(holds_about(owner_id)),
        Subquery(soon, BigIntegerField()),
        Value(BESIDE_LIST, CharField()),
        "pk",
    )


def active_conversations(owner_id: int) -> list[ActiveConversation]:
    """Return the user's conversations in which a reply is being made or awaits approval, of those that are listed."""
    return [ActiveConversation(*row[:-1]) for row in _active.all(owner_id)]


@compiled_queryset
def _active(owner_id: int) -> QuerySet[Run, tuple[Any, ...]]:
    held, waiting = _runs_of_active(owner_id)
    return held.union(waiting, all=True).order_by("pk")


def _runs_of_active(owner_id: int) -> tuple[QuerySet[Run, tuple[Any, ...]], QuerySet[Run, tuple[Any, ...]]]:
    """Return `LISTED` of their conversations, the state, and an id.

    Each state is looked for by its own index: asked for all at once PostgreSQL reads every run that ever was.
    """
    of_owner = Q(reply__conversation__owner_id=owner_id)
    listed = Q(reply__conversation__deleted_at=None, reply__conversation__temporary_until=None)
    columns = (f"reply__conversation__{name}" for name in LISTED)
    runs = Run.objects.filter(of_owner, listed).values_list(*columns, "state", "pk")
    held = runs.filter(state__in=[RunState.RUNNING, RunState.AWAITING_APPROVAL])
    return held, runs.filter(state=RunState.WAITING)
