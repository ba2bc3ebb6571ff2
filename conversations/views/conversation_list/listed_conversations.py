"""The list of conversations in the sidebar, which stands beside every page of a user who is admitted."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext

from chatsite.accounts.models import User
from conversations.models import Conversation, Folder
from conversations.selectors.conversations.conversation_list import (
    ActiveConversation,
    FirstOfList,
    Place,
    active_conversations,
    first_of_list,
    list_conversations,
    list_folders,
    starred_in_folder,
)
from conversations.selectors.conversations.list_pages import PageEnd
from conversations.selectors.retention.notices import RetentionNotices, retention_notices
from conversations.views.http import parameters

from .date_groups import Group, Listed, group_by_date

CONVERSATIONS_PER_PAGE = 50
MOST_PAGES_AGAIN = 10  # of a longer list, the end has to be asked for again
STARRED_AT_FIRST = 20
IN_FOLDER_AT_FIRST = 20
SOCKET_PATH = "/ws/"


@dataclass(frozen=True, slots=True)
class KindGroup:
    """Conversations of a *kind*, whatever their date: `awaiting` approval, `writing` a reply, `starred`, or
    in a *folder*, which has none of them where it is folded.

    *before* asks for more of them. *starred* of a folder are not among them: they stand on top.
    """

    heading: str
    conversations: Sequence[Listed]
    kind: str
    before: PageEnd | None = None
    folder: Folder | None = None
    starred: int = 0


@dataclass(frozen=True, slots=True)
class ListedConversations:
    """One page of the list: *groups*, of which the first page has those on top. Empty ones are there: entries move in.

    *active* are all conversations that await approval or write, also those that are not shown. *before* asks for the
    next page; *current* is the conversation that the user looks at. *notices* are read with the first page.
    """

    groups: list[KindGroup | Group]
    active: list[ActiveConversation]
    before: PageEnd | None
    current: uuid.UUID | None
    notices: RetentionNotices | None

    @property
    def is_empty(self) -> bool:
        return not self.has_folders and not any(group.conversations for group in self.groups)

    @property
    def has_folders(self) -> bool:
        return any(isinstance(group, KindGroup) and group.folder for group in self.groups)

    @property
    def awaiting_count(self) -> int:
        return sum(each.awaits_approval for each in self.active)

    @property
    def awaiting_ids(self) -> str:
        return json.dumps([str(each.public_id) for each in self.active if each.awaits_approval])

    @property
    def writing_ids(self) -> str:
        return json.dumps([str(each.public_id) for each in self.active if not each.awaits_approval])


def listed_conversations(
    request: HttpRequest, *, current: uuid.UUID | None, before: PageEnd | None = None, pages: int = 1
) -> ListedConversations:
    """Return the first *pages* of the list, or those after the end of another."""
    limit = pages * CONVERSATIONS_PER_PAGE
    user = cast(User, request.user)
    found: Sequence[Listed]
    first: FirstOfList | None = None
    if before is None:
        first = first_of_list(user.pk, under_dates=limit, starred=STARRED_AT_FIRST)
        found, active = first.under_dates, first.active
    else:
        found = list_conversations(user, before=before, limit=limit)
        active = active_conversations(user.pk)
    until = PageEnd.of(found, limit=limit)
    on_top = active if first else []
    # A group all of which stands on top is there, too: they go back to it.
    placed = [each for each in on_top if (until is None or each.last_active_at >= until.moment) and not _place_of(each)]
    ids = {each.public_id for each in active}
    rest = [each for each in found if each.public_id not in ids]
    undated: list[Listed] = [*rest, *placed]
    in_order = sorted(undated, key=attrgetter("last_active_at"), reverse=True)
    by_date = group_by_date(in_order, zone=parameters.time_zone(request), shown_until=before and before.moment)
    on_every_page = [_without(group, ids) for group in by_date]
    above: list[KindGroup | Group] = []
    if first:
        above += [*_active_groups(on_top), _starred_group(first.starred, ids)]
        above += _folder_groups(user, ids) if first.has_folders else []
    return ListedConversations(
        groups=[*above, *on_every_page],
        active=active,
        before=until,
        current=current,
        notices=first.notices if first else None,
    )


def list_again(request: HttpRequest) -> ListedConversations:
    """Return the list for a page that shows one already: as many pages of it as are shown there."""
    pages = math.ceil(parameters.listed_count(request) / CONVERSATIONS_PER_PAGE)
    current = parameters.optional_unique_id(request, "current")
    return listed_conversations(request, current=current, pages=min(max(pages, 1), MOST_PAGES_AGAIN))


def more_of_kind(request: HttpRequest, *, before: PageEnd, folder: Folder | None = None) -> KindGroup:
    """Return those starred ones, or those in a folder, that follow the end of what is shown."""
    if folder is not None:
        return folder_group(folder, set(), before=before, limit=CONVERSATIONS_PER_PAGE)
    limit = CONVERSATIONS_PER_PAGE
    found = list_conversations(cast(User, request.user), Place.STARRED, before=before, limit=limit)
    return _starred_group(found, set(), limit=limit)


def _active_groups(active: list[ActiveConversation]) -> list[KindGroup]:
    awaiting = [each for each in active if each.awaits_approval]
    writing = [each for each in active if not each.awaits_approval]
    return [
        KindGroup(gettext("Waiting for your approval"), awaiting, "awaiting"),
        KindGroup(gettext("Writing"), writing, "writing"),
    ]


def _starred_group(found: Sequence[Listed], on_top: set[uuid.UUID], *, limit: int | None = None) -> KindGroup:
    until = PageEnd.of(found, limit=limit or STARRED_AT_FIRST)
    shown = [each for each in found if each.public_id not in on_top]
    return KindGroup(gettext("Starred"), shown, "starred", until)


def folder_group(
    folder: Folder, on_top: set[uuid.UUID], *, before: PageEnd | None = None, limit: int = IN_FOLDER_AT_FIRST
) -> KindGroup:
    """Return a folder with its conversations that stand nowhere else; without any where it is folded."""
    found: list[Conversation] = []
    if not folder.is_folded:
        found = list_conversations(folder.owner, Place.IN_FOLDER, folder=folder, before=before, limit=limit)
    until = PageEnd.of(found, limit=limit)
    shown = [each for each in found if each.public_id not in on_top]
    starred = 0 if before else starred_in_folder(folder)
    return KindGroup(folder.name, shown, f"folder-{folder.pk}", until, folder, starred)


def _folder_groups(user: User, on_top: set[uuid.UUID]) -> list[KindGroup]:
    return [folder_group(folder, on_top) for folder in list_folders(user)]


def _place_of(conversation: ActiveConversation) -> bool:
    """Tell whether it stands elsewhere than under its date, once its reply has ended."""
    return conversation.starred or conversation.archived or conversation.folder_id is not None


def _without(group: Group, ids: set[uuid.UUID]) -> Group:
    return replace(group, conversations=[each for each in group.conversations if each.public_id not in ids])


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor: what stands around every page in the shell, read when a template asks for it."""
    match = request.resolver_match
    current = match.kwargs.get("public_id") if match else None
    shown: list[ListedConversations] = []

    def show_list() -> ListedConversations:
        shown.append(listed_conversations(request, current=current))
        return shown[0]

    def find_notices() -> RetentionNotices:
        read = shown[0].notices if shown else None
        return read or retention_notices(cast(User, request.user))

    return {
        "listed": SimpleLazyObject(show_list),
        "retention": SimpleLazyObject(find_notices),
        "socket_path": SOCKET_PATH,
        "most_megabytes": settings.DOCUMENT_MEGABYTES,
        "most_picture_megabytes": settings.PICTURE_MEGABYTES,
        "most_pictures": settings.PICTURES_PER_MESSAGE,
    }
