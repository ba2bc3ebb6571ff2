"""A conversation as JSON for the account's export and for its own, in pieces: it may not fit into memory.

The account's export and the export of one conversation have the same form. A conversation alone numbers its messages
from 1 in the order of the file, has its pictures in it, and leaves out `requests` and `parameters`: they are rows of
this site's ledger, and what programs asked for here.
So an import reads it back (`read_conversation_json`), and what is exported then has the same bytes.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from conversations.core.imports.windowseat import FORM
from conversations.models import Conversation, Picture
from conversations.selectors.conversations.exported_messages import (
    exported_messages,
    message_numbers,
    numbered_messages,
)
from conversations.selectors.conversations.pictures import data_url, read_picture_bytes
from conversations.selectors.conversations.summary import exported_summaries

SETTINGS = (
    *("title", "title_is_given", "language_model", "effort", "summarises", "notes", "kept_out_of_recall"),
    *("searches_web", "created_at", "last_active_at", "archived", "starred", "forgotten_before", "metadata"),
)
PICTURE = ("digest", "media_type", "width", "height", "file_name", "alt_text", "created_at")


def about_conversation(conversation: Conversation) -> dict[str, Any]:
    """Return what is said of the conversation itself, the same in both exports."""
    settings = {name: getattr(conversation, name) for name in SETTINGS}
    return {"id": conversation.public_id, "scenario": conversation.scenario.name, **settings}


def whole_conversation_json(conversation: Conversation) -> Iterator[str]:
    """Yield the file of one conversation, in pieces: all versions of its messages, and its pictures as `data:` URLs."""
    numbers = message_numbers(conversation)
    summaries = [
        version | {"last_message": numbers.get(version["last_message"])} for version in exported_summaries(conversation)
    ]
    about = {"form": FORM, **about_conversation(conversation), "summaries": summaries}
    yield as_json(about).removesuffix("}") + ', "pictures": ['
    yield from _listed(_picture(picture) for picture in _sent_pictures(conversation))
    yield '\n], "messages": ['
    yield from _listed(map(as_json, numbered_messages(conversation, numbers)))
    yield "\n]}\n"


def _sent_pictures(conversation: Conversation) -> Iterator[Picture]:
    return conversation.pictures.filter(sent=True).order_by("pk").iterator(chunk_size=20)


def _picture(picture: Picture) -> str:
    about = {name: getattr(picture, name) for name in PICTURE}
    content = read_picture_bytes(picture.pk) or b""
    return as_json({**about, "content": data_url(picture.media_type, content)})


def _listed(values: Iterable[str]) -> Iterator[str]:
    separator = "\n"
    for value in values:
        yield separator + value
        separator = ",\n"


def conversation_json(conversation: Conversation, about: Mapping[str, Any]) -> Iterator[str]:
    """Yield one object in pieces: what *about* says, and under `messages` all of them, a message at a time.

    The versions of its summary come before them, as `summaries`, oldest first.
    """
    about = {**about, "summaries": exported_summaries(conversation)}
    yield as_json(about).removesuffix("}") + ', "messages": ['
    yield from _listed(map(as_json, exported_messages(conversation)))
    yield "\n]}\n"


class _Encoder(DjangoJSONEncoder):
    """Writes moments whole: Django's own cuts them to milliseconds, which can't be read back as they were."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, dt.datetime) else super().default(o)


def as_json(value: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return *value*, in which there may be moments, amounts and ids, as people can read it."""
    return json.dumps(value, cls=_Encoder, ensure_ascii=False, indent=indent)
