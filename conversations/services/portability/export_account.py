"""Export an account: all content and usage of a user, as the files of one ZIP.

    README.txt  account.json  conversations/… .json  documents/…  documents.csv  pictures/…  pictures.csv
    scenarios/… .json  prompts.json  api_keys.json  usage.csv
    readings.csv, where the site shows people who has read their conversations

Everything is read a slice at a time, by the row's id, and nothing is held between two slices: it may take as long as
its reader needs. What is deleted meanwhile is missing, or ends early.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import Model, Q, QuerySet

from chatsite.accounts.account.account_data import account_data
from chatsite.accounts.models import User
from conversations.core.text.csv_cells import EXCEL_READS_UTF_8, csv_lines
from conversations.core.text.file_names import fit_into_path
from conversations.models import ApiKey, Completion, Conversation, Document, Picture, SavedPrompt, Scenario
from conversations.selectors.conversations.documents import read_piece
from conversations.selectors.conversations.pictures import read_picture_bytes
from conversations.selectors.review.readings import readings_about
from conversations.services.portability.conversation_json import about_conversation, as_json, conversation_json
from conversations.services.scenarios.scenario_file import write_document

from .export_texts import read_me

AT_ONCE = 200
PIECE_BYTES = 2**20

File = tuple[str, Iterable[bytes]]
M = TypeVar("M", bound=Model)


def exported_files(user: User, *, language_code: str) -> Iterator[File]:
    """Yield the name and the content of each file; a content must be read before the next file is asked for."""
    yield "README.txt", [read_me(language_code).encode()]
    yield "account.json", [as_json(account_data(user), indent=2).encode()]
    for conversation in _slices(_own_conversations(user).select_related("scenario", "folder")):
        yield _conversation_name(conversation), _conversation_pieces(conversation)
    for document in _slices(_own_documents(user)):
        yield _document_path(document), _document_pieces(document)
    yield "documents.csv", _csv(DOCUMENT_HEADER, map(_document_row, _slices(_documents_with_places(user))))
    for picture in _slices(_own_pictures(user)):
        yield _picture_path(picture), [read_picture_bytes(picture.pk) or b""]
    yield "pictures.csv", _csv(PICTURE_HEADER, map(_picture_row, _slices(_own_pictures(user))))
    for scenario in _slices(Scenario.objects.filter(owner=user)):
        yield (
            f"scenarios/{fit_into_path(scenario.name) or 'untitled'} ({scenario.pk}).json",
            [write_document(scenario).encode()],
        )
    yield "prompts.json", [as_json({"prompts": _saved_prompts(user)}, indent=2).encode()]
    yield "api_keys.json", [as_json({"api_keys": _api_keys(user)}, indent=2).encode()]
    yield "usage.csv", _csv(("conversation", "api_key", *USAGE), map(_usage_row, _slices(_own_completions(user))))
    if settings.READINGS_SHOWN_TO_OWNERS:
        yield "readings.csv", _csv(READING_HEADER, _reading_rows(user))


def _slices(rows: QuerySet[M]) -> Iterator[M]:
    """Yield all of *rows* by their ids, some hundreds at a time."""
    last = 0
    while found := list(rows.filter(pk__gt=last).order_by("pk")[:AT_ONCE]):
        yield from found
        last = found[-1].pk


# Conversations


def _own_conversations(user: User) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner=user, deleted_at=None, temporary_until=None)


def _conversation_name(conversation: Conversation) -> str:
    title = fit_into_path(conversation.title) or "untitled"
    return f"conversations/{conversation.created_at:%Y-%m-%d} {title} ({conversation.public_id}).json"


def _conversation_pieces(conversation: Conversation) -> Iterator[bytes]:
    folder = conversation.folder
    about = about_conversation(conversation) | {"folder": folder.name if folder else None}
    return (piece.encode() for piece in conversation_json(conversation, about))


# Documents

DOCUMENT_HEADER = ("file", "name", "conversation", "folder", "scenario", "size_bytes", "state", "added_at")


def _own_documents(user: User) -> QuerySet[Document]:
    in_conversations = Q(conversation__owner=user, conversation__deleted_at=None, conversation__temporary_until=None)
    return Document.objects.filter(in_conversations | Q(folder__owner=user) | Q(scenario__owner=user))


def _documents_with_places(user: User) -> QuerySet[Document]:
    return _own_documents(user).select_related("conversation", "folder", "scenario")


def _document_path(document: Document) -> str:
    return f"documents/{document.public_id}/{fit_into_path(document.name, longest=200) or 'untitled'}"


def _document_pieces(document: Document) -> Iterator[bytes]:
    start = 0
    while piece := read_piece(document.pk, start=start, size=PIECE_BYTES):
        yield piece
        start += len(piece)


def _document_row(document: Document) -> list[Any]:
    conversation, folder, scenario = document.conversation, document.folder, document.scenario
    names = [named.name if named else None for named in (folder, scenario)]
    place = [conversation.public_id if conversation else None, *names]
    return [_document_path(document), document.name, *place, document.size_bytes, document.state, document.created_at]


# Pictures

PICTURE_HEADER = ("file", "id", "name", "description", "conversation", "width", "height", "size_bytes", "added_at")


def _own_pictures(user: User) -> QuerySet[Picture]:
    """Return those that a message has; the others are deleted by themselves."""
    of_conversations = Picture.objects.filter(
        conversation__owner=user, conversation__deleted_at=None, conversation__temporary_until=None, sent=True
    )
    return of_conversations.select_related("conversation")


def _picture_path(picture: Picture) -> str:
    return f"pictures/{picture.conversation.public_id}/{picture.pk}.{picture.media_type.removeprefix('image/')}"


def _picture_row(picture: Picture) -> list[Any]:
    about = [picture.pk, picture.file_name, picture.alt_text, picture.conversation.public_id]
    return [_picture_path(picture), *about, picture.width, picture.height, picture.size_bytes, picture.created_at]


# Saved prompts


def _saved_prompts(user: User) -> list[dict[str, Any]]:
    prompts = SavedPrompt.objects.filter(owner=user)
    return [{"name": each.name, "content": each.content, "created_at": each.created_at} for each in prompts]


# API keys

KEY_FIELDS = (
    *("name", "scopes", "language_models", "requests_per_minute", "money_per_day_usd", "money_per_month_usd"),
    *("created_at", "ends_at", "revoked_at", "last_used_at"),
)


def _api_keys(user: User) -> list[dict[str, Any]]:
    """Return what is known of the keys, never what opens something."""
    keys = ApiKey.objects.filter(owner=user).select_related("scenario")
    about = ({name: getattr(key, name) for name in KEY_FIELDS} for key in keys)
    return [
        {**each, "scenario": key.scenario.name if key.scenario else None} for each, key in zip(about, keys, strict=True)
    ]


# Usage, and who has read

USAGE = (
    *("created_at", "purpose", "language_model", "input_tokens", "cached_input_tokens", "cache_write_tokens"),
    *("output_tokens", "reasoning_tokens", "usage_estimated", "cost_usd", "reported_cost_usd", "price_source"),
    *("finish_reason", "error_code", "provider_request_id"),
)


def _own_completions(user: User) -> QuerySet[Completion]:
    rows = Completion.objects.filter(user=user).select_related("conversation", "api_key")
    return rows.defer("window", "request", "price_list")


def _usage_row(completion: Completion) -> list[Any]:
    conversation = completion.conversation
    public_id = conversation.public_id if conversation and not conversation.is_temporary else None
    return [public_id, completion.api_key and completion.api_key.name, *(getattr(completion, name) for name in USAGE)]


READING_HEADER = ("from", "to", "conversation", "by", "reason", "what")


def _reading_rows(user: User) -> Iterator[list[Any]]:
    """Yield a row for each reading, and one for each conversation that a search led to."""
    for reading in _slices(readings_about(user)):
        found: list[UUID | None] = [hit.conversation_public_id for hit in reading.own_hits]
        what = "; ".join(str(step) for step in reading.steps.all())
        for conversation in found or [reading.conversation_public_id]:
            times = reading.began_at, reading.ends_at
            yield [*times, conversation, reading.reviewer_email, reading.reason, what]


# How it is written


def _csv(header: Iterable[str], rows: Iterable[list[Any]]) -> Iterator[bytes]:
    yield EXCEL_READS_UTF_8.encode()
    for line in csv_lines(list(header), rows):
        yield line.encode()
