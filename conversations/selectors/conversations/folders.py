"""A user's folders: finding one, and the scenario that a conversation begun in it has."""

from __future__ import annotations

from chatsite.accounts.models import User
from conversations.core.errors import FolderNotFound
from conversations.models import Folder, Scenario


def find_folder(user: User, folder_id: int) -> Folder:
    """Return a folder of *user*. Raises `FolderNotFound` also if it is someone else's."""
    if (found := Folder.objects.select_related("scenario").filter(owner=user, pk=folder_id).first()) is None:
        raise FolderNotFound
    return found


def scenario_of_folder(user: User, folder: Folder) -> Scenario | None:
    """Return the scenario that a conversation begun in the folder has; None where the user may no longer choose it."""
    may_choose = folder.scenario and (folder.scenario.offered or folder.scenario.is_default)
    return folder.scenario if folder.scenario and (may_choose or folder.scenario.owner_id == user.pk) else None
