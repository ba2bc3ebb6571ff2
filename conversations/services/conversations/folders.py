"""Create, change, fold and delete a user's folders. Documents of one that is deleted go with it."""

from __future__ import annotations

from functools import partial

from django.db import IntegrityError, transaction

from chatsite.accounts.models import User
from chatsite.names import clean_name
from conversations.core.errors import FolderNameTaken, NameInvisible, TooManyFolders
from conversations.live.fanout import publish_list_change
from conversations.models import Folder, Scenario
from conversations.selectors.conversations.folders import find_folder
from conversations.selectors.conversations.scenarios import find_scenario

from .list_changes import delete_conversations

MOST_FOLDERS = 100
MOST_NAME_CHARACTERS = 80


@transaction.atomic
def create_folder(user: User, *, name: str, scenario_id: int | None = None) -> Folder:
    """Create a folder. Raises an `InputError` or `ScenarioNotFound`, and creates none, if that can't be."""
    folder = Folder(owner=user, name=_clean(name), scenario=_scenario(user, scenario_id))
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # so that two at once are counted one after the other
    if user.folders.count() >= MOST_FOLDERS:
        raise TooManyFolders(most=MOST_FOLDERS)
    return _store(folder)


@transaction.atomic
def change_folder(user: User, folder_id: int, *, name: str, scenario_id: int | None = None) -> Folder:
    """Give the folder another name and scenario. Raises as `create_folder` does, and `FolderNotFound`.

    Conversations that are in it keep the scenario that they have. The folder's own is kept, also where it is offered
    no longer.
    """
    folder = find_folder(user, folder_id)
    folder.name = _clean(name)
    if folder.scenario_id != scenario_id:
        folder.scenario = _scenario(user, scenario_id)
    return _store(folder)


def fold_folder(user: User, folder_id: int, *, is_folded: bool) -> Folder:
    """Show the folder's conversations in the list, or hide them there, the next time too."""
    folder = find_folder(user, folder_id)
    folder.is_folded = is_folded
    folder.save(update_fields=["is_folded"])
    return folder


def delete_folder(user: User, folder_id: int, *, with_conversations: bool = False) -> None:
    """Delete the folder with its documents. Its conversations go back under their dates, or are deleted before it.

    Those that are deleted can be restored, and are in no folder then.
    """
    folder = find_folder(user, folder_id)
    inside = list(folder.conversations.filter(deleted_at=None).values_list("public_id", flat=True))
    if with_conversations and inside:
        delete_conversations(user, inside)
    with transaction.atomic():
        if locked := Folder.objects.select_for_update().filter(pk=folder.pk).first():  # no document comes in now
            locked.delete()
        _announce(user)


def _scenario(user: User, scenario_id: int | None) -> Scenario | None:
    return None if scenario_id is None else find_scenario(user, scenario_id)


def _clean(name: str) -> str:
    cleaned = clean_name(name, most_characters=MOST_NAME_CHARACTERS)
    if not cleaned:
        raise NameInvisible
    return cleaned


def _store(folder: Folder) -> Folder:
    try:
        with transaction.atomic():
            folder.save()
    except IntegrityError as error:
        raise FolderNameTaken from error
    _announce(folder.owner)
    return folder


def _announce(user: User) -> None:
    transaction.on_commit(partial(publish_list_change, user.pk, []))
