"""Save a user's notes: about themselves, and on a conversation. Both are sent with each question, so both are short."""

from __future__ import annotations

from chatsite.accounts.models import User
from conversations.core.errors import NotesHaveTooManyCharacters, NotesHaveTooManyTokens
from conversations.core.text.storable_text import UNSTORABLE
from conversations.models import Conversation
from conversations.providers.tokens.tokenizer import DEFAULT_ENCODING, count_text

MOST_CHARACTERS = 4_000
MOST_TOKENS = 1_000


def save_about_me(user: User, text: str) -> None:
    """Store what the user says about themselves. Raises an `InputError`, and changes nothing, if it is too long."""
    user.about_me = clean_notes(text)
    User.objects.filter(pk=user.pk).update(about_me=user.about_me)


def save_notes(conversation: Conversation, text: str) -> None:
    """Store the notes on *conversation*. Raises an `InputError`, and changes nothing, if they are too long."""
    conversation.notes = clean_notes(text)
    Conversation.objects.filter(pk=conversation.pk).update(notes=conversation.notes)


def clean_notes(text: str) -> str:
    """Return *text* as it is stored. Raises `NotesHaveTooManyCharacters` or `NotesHaveTooManyTokens`."""
    cleaned = UNSTORABLE.sub("", text.replace("\r\n", "\n")).strip()
    if len(cleaned) > MOST_CHARACTERS:
        raise NotesHaveTooManyCharacters(most=MOST_CHARACTERS, given=len(cleaned))
    tokens = count_text(DEFAULT_ENCODING)(cleaned)
    if tokens > MOST_TOKENS:
        raise NotesHaveTooManyTokens(most=MOST_TOKENS, given=tokens)
    return cleaned
