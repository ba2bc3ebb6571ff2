"""`GET /v1/windowseat/conversations/ID/export`: a conversation as one file, written as the page's export writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from chatsite.accounts.preferences.reader_time_zone import stored_time_zone
from conversations.access import find_open_keys
from conversations.core.api.fields import JsonSchema, one_of
from conversations.core.errors import ApiKeyInvalid, ExportUnderWay, TemporaryNotExported
from conversations.models import ApiKey, ApiScope
from conversations.services.api.api_conversations import find_api_conversation
from conversations.views.http.export_stream import export_response
from conversations.views.portability.exports import KINDS, gather
from conversations.wording.error_sentences import ReaderLocale

from .api_view import api_view, read_query
from .turns import in_turn

KIND = one_of(*sorted(KINDS))
QUERY: Mapping[str, JsonSchema] = {"kind": KIND.schema}


@api_view("GET", ApiScope.READ)
async def export(request: HttpRequest, *, key: ApiKey, conversation_id: str) -> HttpResponseBase:
    return await in_turn(key, _export, key, conversation_id, read_query(request, *QUERY).get("kind", ""))


def _export(key: ApiKey, conversation_id: str, kind: str) -> HttpResponseBase:
    conversation = find_api_conversation(key, conversation_id)
    kind = KIND(kind, "kind")
    if conversation.is_temporary:
        raise TemporaryNotExported
    ending, media_type, write = KINDS[kind]
    reader = ReaderLocale(key.owner.language or settings.LANGUAGE_CODE, stored_time_zone(key.owner))
    name = f"{conversation.public_id}.{ending}"
    pieces = _while_open(key, gather(write(conversation, reader)))
    response = export_response(key.owner, name, pieces, content_type=media_type)
    if response is None:
        raise ExportUnderWay
    return response


def _while_open(key: ApiKey, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield *pieces* as long as *key* opens something: a client may read as slowly as it likes."""
    for piece in pieces:
        if not find_open_keys([key.pk]):
            raise ApiKeyInvalid
        yield piece
