"""Save a user's notes: about themselves, and on a conversation. Both are sent with each question, so both are short.

With them goes what each form asks besides: whether recall looks in other conversations, and whether in this one.
"""

from __future__ import annotations

from chatsite.accounts.models import User
from conversations.core.errors import NotesHaveTooManyCharacters, NotesHaveTooManyTokens
from conversations.core.text.storable_text import clean_typed_text
from conversations.models import Conversation
from conversations.providers.tokens.tokenizer import DEFAULT_ENCODING, count_text

MOST_CHARACTERS = 4_000
MOST_TOKENS = 1_000


def save_about_me(user: User, text: str, *, recalls_other_conversations: bool | None = None) -> None:
    """Store what the user says about themselves. Raises an `InputError`, and changes nothing, if it is too long.

    *recalls_other_conversations* stays as it is where it is None.
    """
    user.about_me = clean_notes(text)
    User.objects.filter(pk=user.pk).update(about_me=user.about_me)
    if recalls_other_conversations is not None:
        user.recalls_other_conversations = recalls_other_conversations
        User.objects.filter(pk=user.pk).update(recalls_other_conversations=recalls_other_conversations)


def save_notes(conversation: Conversation, text: str, *, kept_out_of_recall: bool | None = None) -> None:
    """Store the notes on *conversation*. Raises an `InputError`, and changes nothing, if they are too long.

    *kept_out_of_recall* stays as it is where it is None.
    """
    conversation.notes = clean_notes(text)
    Conversation.objects.filter(pk=conversation.pk).update(notes=conversation.notes)
    if kept_out_of_recall is not None:
        conversation.kept_out_of_recall = kept_out_of_recall
        Conversation.objects.filter(pk=conversation.pk).update(kept_out_of_recall=kept_out_of_recall)


def clean_notes(text: str) -> str:
    """Return *text* as it is stored. Raises `NotesHaveTooManyCharacters` or `NotesHaveTooManyTokens`."""
    cleaned = clean_typed_text(text)
    if len(cleaned) > MOST_CHARACTERS:
        raise NotesHaveTooManyCharacters(most=MOST_CHARACTERS, given=len(cleaned))
    tokens = count_text(DEFAULT_ENCODING)(cleaned)
    if tokens > MOST_TOKENS:
        raise NotesHaveTooManyTokens(most=MOST_TOKENS, given=tokens)
    return cleaned
