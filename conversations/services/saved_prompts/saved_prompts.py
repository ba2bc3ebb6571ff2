"""Save, change and delete a user's saved prompts."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from chatsite.accounts.models import User
from chatsite.names import clean_name
from conversations.core.errors import (
    NameInvisible,
    SavedPromptIncomplete,
    SavedPromptNameTaken,
    SavedPromptNotFound,
    SavedPromptTooLong,
    TooManySavedPrompts,
)
from conversations.core.text.storable_text import clean_typed_text
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
    cleaned_name, cleaned_content = _clean(name, content)
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # so that two at once are counted one after the other
    if user.saved_prompts.count() >= MOST_PROMPTS:
        raise TooManySavedPrompts(most=MOST_PROMPTS)
    return _store(SavedPrompt(owner=user, name=cleaned_name, content=cleaned_content))


@transaction.atomic
def change_prompt(prompt: SavedPrompt, *, name: str, content: str) -> SavedPrompt:
    """Give *prompt* another name and content. Raises an `InputError`, and changes nothing, if either can't be kept."""
    cleaned_name, cleaned_content = _clean(name, content)
    return _store(
        SavedPrompt(
            pk=prompt.pk,
            owner_id=prompt.owner_id,
            name=cleaned_name,
            content=cleaned_content,
            created_at=prompt.created_at,
        )
    )


def _clean(name: str, content: str) -> tuple[str, str]:
    cleaned = clean_name(name), clean_typed_text(content)
    if name.strip() and not cleaned[0]:
        raise NameInvisible
    if not all(cleaned):
        raise SavedPromptIncomplete
    if len(cleaned[0]) > MOST_NAME_CHARACTERS or len(cleaned[1]) > MOST_CHARACTERS:
        raise SavedPromptTooLong(name=MOST_NAME_CHARACTERS, content=MOST_CHARACTERS)
    return cleaned


def _store(prompt: SavedPrompt) -> SavedPrompt:
    try:
        with transaction.atomic():
            prompt.save()
    except IntegrityError as error:
        raise SavedPromptNameTaken from error
    return prompt
