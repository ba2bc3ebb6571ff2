"""The list of a user's conversations."""

from __future__ import annotations

import datetime as dt
import uuid
from enum import Enum
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from chatsite.accounts.models import User
from conversations.models import Conversation, Document, Folder, Run
from conversations.models.run import RunState

from .list_pages import PageEnd, read_page

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
    there = PLACES[place] & Q(owner_id=user.pk, deleted_at=None, temporary_until=None)
    found = Conversation.objects.filter(~HOLDS_NOTHING, there)
    if folder is not None:
        found = found.filter(folder=folder)
    if in_title:
        found = found.filter(title__icontains=in_title)
    return read_page(found, before=before, limit=limit)


STARRED_INSIDE = Count(
    "conversations",
    filter=Q(conversations__starred=True, conversations__archived=False, conversations__deleted_at=None),
)


def with_starred(folders: QuerySet[Folder]) -> QuerySet[Folder]:
    """Return *folders* with how many starred conversations each has, for `starred_in_folder`."""
    return folders.annotate(starred_inside=STARRED_INSIDE)


def starred_in_folder(folder: Folder) -> int:
    """Return how many conversations of the folder the list has under “Starred”."""
    known: int | None = getattr(folder, "starred_inside", None)
    return folder.conversations.filter(PLACES[Place.STARRED], deleted_at=None).count() if known is None else known


LISTED = ("public_id", "title", "last_active_at", "starred", "archived", "folder_id")


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


def active_conversations(owner_id: int) -> list[ActiveConversation]:
    """Return the user's conversations in which a reply is being made or awaits approval, of those that are listed.

    Each state is looked for by its own index: asked for all at once PostgreSQL reads every run that ever was.
    """
    of_owner = Q(reply__conversation__owner_id=owner_id)
    listed = Q(reply__conversation__deleted_at=None, reply__conversation__temporary_until=None)
    columns = (f"reply__conversation__{name}" for name in LISTED)
    runs = Run.objects.filter(of_owner, listed).values_list(*columns, "state", "pk")
    held = runs.filter(state__in=[RunState.RUNNING, RunState.AWAITING_APPROVAL])
    found = held.union(runs.filter(state=RunState.WAITING), all=True).order_by("pk")
    return [ActiveConversation(*row[:-1]) for row in found]
