"""The address of a conversation that is not stored yet: what is chosen for it so far stands in the query."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from conversations.models import Conversation


def new_address(conversation: Conversation, **chosen: str) -> str:
    """Return the address of the page with what is *chosen* now, in the same folder or as temporary as before."""
    return f"{reverse('conversations:new')}?{urlencode(_place(conversation) | chosen)}"


def new_address_to_extend(conversation: Conversation) -> str:
    """Return the same, to be followed by more of the query."""
    place = urlencode(_place(conversation))
    return f"{reverse('conversations:new')}?{place}{'&' if place else ''}"


def _place(conversation: Conversation) -> dict[str, str]:
    if conversation.is_temporary:
        return {"temporary": "true"}
    return {"folder": str(conversation.folder_id)} if conversation.folder_id else {}
