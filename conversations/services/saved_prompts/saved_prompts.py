"""Save, change and delete a user's saved prompts."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from chatsite.accounts.models import User
from conversations.core.errors import (
    SavedPromptIncomplete,
    SavedPromptNameTaken,
    SavedPromptNotFound,
    SavedPromptTooLong,
    TooManySavedPrompts,
)
from conversations.core.text.storable_text import UNSTORABLE, clean_typed_text
from conversations.models import SavedPrompt

MOST_PROMPTS = 100
MOST_NAME_CHARACTERS = 80
MOST_CHARACTERS = 20_000


def find_saved_prompt(user: User, prompt_id: int) -> SavedPrompt:
    """Return a saved prompt of *user*. Raises `SavedPromptNotFound` also if it is someone else's."""
    if (found := SavedPrompt.objects.filter(owner=user, pk=prompt_id).first()) is None:
        raise SavedPromptNotFound
    return found


@transaction.atomic
def save_prompt(user: User, *, name: str, content: str) -> SavedPrompt:
    """Keep *content* under *name*. Raises an `InputError`, and keeps nothing, if either can't be kept."""
    clean_name, clean_content = _clean(name, content)
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # so that two at once are counted one after the other
    if user.saved_prompts.count() >= MOST_PROMPTS:
        raise TooManySavedPrompts(most=MOST_PROMPTS)
    return _store(SavedPrompt(owner=user, name=clean_name, content=clean_content))


@transaction.atomic
def change_prompt(prompt: SavedPrompt, *, name: str, content: str) -> SavedPrompt:
    """Give *prompt* another name and content. Raises an `InputError`, and changes nothing, if either can't be kept."""
    clean_name, clean_content = _clean(name, content)
    return _store(
        SavedPrompt(
            pk=prompt.pk, owner_id=prompt.owner_id, name=clean_name, content=clean_content, created_at=prompt.created_at
        )
    )


def _clean(name: str, content: str) -> tuple[str, str]:
    clean_name = " ".join(UNSTORABLE.sub("", name).split())
    clean_content = clean_typed_text(content)
    if not clean_name or not clean_content:
        raise SavedPromptIncomplete
    if len(clean_name) > MOST_NAME_CHARACTERS or len(clean_content) > MOST_CHARACTERS:
        raise SavedPromptTooLong(name=MOST_NAME_CHARACTERS, content=MOST_CHARACTERS)
    return clean_name, clean_content


def _store(prompt: SavedPrompt) -> SavedPrompt:
    try:
        with transaction.atomic():
            prompt.save()
    except IntegrityError as error:
        raise SavedPromptNameTaken from error
    return prompt
