"""Read the JSON file of one conversation back: `services.portability.conversation_json` writes it.

The file is read a line at a time, and stored in one transaction: all of it or nothing. What is read back and exported
again has the same bytes, with these exceptions: `id` is another one where it is taken, `scenario` is the one that the
reader begins with, a language model that is not on offer here is not kept as the choice, and a picture that is encoded
again may have another `digest` and `content`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import F, Max, Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from chatsite.accounts.models import User
from chatsite.names import clean_name
from chatsite.postgres.copy_rows import copy_rows, take_ids
from conversations.access import lock_admitted, require_admitted
from conversations.core.api.response_request import read_pairs
from conversations.core.errors import (
    EffortNotAccepted,
    InvalidHistory,
    LanguageModelNotOffered,
    NotesHaveTooManyCharacters,
    NotesHaveTooManyTokens,
    ParameterInvalid,
    RemarkTooLong,
)
from conversations.core.errors.pictures import PictureError
from conversations.core.imports.moments import FIRST, LAST
from conversations.core.imports.windowseat import FORM
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.prompt.summary_text import render_summary
from conversations.core.window.budget import content_tokens
from conversations.live.fanout import MESSAGES, publish
from conversations.models import (
    Conversation,
    Message,
    PathChange,
    Picture,
    PictureFile,
    Rating,
    Scenario,
    Summary,
    ToolCall,
)
from conversations.models.message import MessageRole, MessageState
from conversations.models.rating import Verdict
from conversations.models.tool_call import ENDED
from conversations.parsing import read_picture
from conversations.providers.tokens.tokenizer import ENCODINGS, count_text
from conversations.selectors.conversations.exported_messages import CALL, RATING
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.services.conversations.notes import clean_notes
from conversations.services.documents.storage_limit import check_storage
from conversations.services.language_models.model_choice import check_choice
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.messages.rate_reply import clean_remark
from conversations.services.portability.conversation_json import SETTINGS

AT_ONCE = 500
MOST_OVERHEAD_TOKENS = 1_000  # that another chat format may add to a message
MOST_PICTURES = 100  # of one message: a page draws all of them
# What reading raises for a file that is not whole, or was edited.
WRONG = (
    *(KeyError, TypeError, ValueError, AttributeError, StopIteration, RecursionError, ArithmeticError),
    *(IntegrityError, DataError, ValidationError, PictureError),
    *(NotesHaveTooManyCharacters, NotesHaveTooManyTokens, ParameterInvalid, RemarkTooLong),
)
MOST_AHEAD = 10_000  # how far a message may name one that comes later: a reply comes behind its steps
MOMENTS = ("created_at", "last_active_at", "decided_at", "started_at", "ended_at", "rated_at")
MESSAGE = (
    *("pinned", "excluded", "never_recalled", "last_forgotten", "role", "name", "state", "error_params", "content"),
    *("reasoning", "reasoning_tokens", "reasoning_tokens_estimated"),
    *("reasoning_seconds", "grounding", "grounding_tokens", "tool_calls", "tool_call_id", "copied_model"),
)
SUMMARY = {
    "version": "number", "text": "text", "language_model": "language_model",
    "stands_for_messages": "messages", "edited_by_owner": "edited", "undone_by_owner": "undone", "stale": "stale",
}  # fmt: skip
PICTURES_BEGIN = ', "pictures": ['


def read_head(line: str) -> dict[str, Any]:
    """Return what the first line of the file says of the conversation. Raises `ValueError`."""
    about: dict[str, Any] = {"metadata": {}}  # older files have none
    about |= json.loads(line.removesuffix("\n").removesuffix(PICTURES_BEGIN) + "}")
    if about["form"] != FORM:
        raise ValueError(about["form"])
    return about


def read_conversation(*, user: User, lines: Iterable[str], scenario: Scenario | None = None) -> Conversation:
    """Store the conversation of the file as a new one of *user*. *lines* are those of the file, with their ends.

    It begins with *scenario*, or with the default. The user is locked at its end alone: a file may take minutes, in
    which they go on asking elsewhere. Raises `InvalidHistory` for a file that is cut, changed or of another form,
    `DocumentStorageFull` for pictures that have no room; then nothing is stored.
    """
    try:
        require_admitted(user)
        with transaction.atomic():
            read = _Reader(user, scenario or scenario_to_begin_with(user, None), iter(lines)).read()
            connection.check_constraints()  # a row may name one that does not come
            lock_admitted(user)
            check_storage(user)
            return read
    except WRONG as error:
        raise InvalidHistory(reason="the file is not whole, or not one that this site has written") from error


class _Reader:
    """Reads one file. *ids* are those taken for its messages so far, by their numbers from 1."""

    def __init__(self, user: User, scenario: Scenario, lines: Iterator[str]) -> None:
        self.user, self.scenario, self.lines = user, scenario, lines
        self.ids: list[int] = []
        self.pictures: dict[str, int] = {}
        self.conversation: Conversation
        self.context: ModelContext

    def read(self) -> Conversation:
        about = read_head(next(self.lines))
        self.conversation = self._begin(about)
        self.context = conversation_context(self.conversation)
        for picture in self._listed('], "messages": ['):
            self._keep_picture(picture)
        self._store_messages(self._listed("]}"))
        self._store_summaries(about["summaries"])
        self._end()
        return self.conversation

    def _listed(self, end: str) -> Iterator[dict[str, Any]]:
        """Yield the values of a list, one a line, up to the line that ends it."""
        for line in self.lines:
            if (value := line.rstrip("\n")) == end:
                return
            if value:
                yield _with_moments(json.loads(value.removesuffix(",")))
        raise ValueError(f"no line {end}")

    def _begin(self, about: Mapping[str, Any]) -> Conversation:
        public_id = uuid.UUID(about["id"])
        if Conversation.objects.filter(public_id=public_id).exists():
            public_id = uuid.uuid4()
        values = _with_moments({name: about[name] for name in SETTINGS})
        created_at, values["title"] = values.pop("created_at"), clean_name(values["title"])
        values["notes"] = clean_notes(values["notes"])
        values["metadata"] = read_pairs(values["metadata"])
        values["last_active_at"] = min(values["last_active_at"], timezone.now())  # or retention would pass it over
        try:
            chosen = {name: values[name] for name in ("language_model", "effort")}
            check_choice(self.user, **chosen, scenario=self.scenario)
        except (LanguageModelNotOffered, EffortNotAccepted):
            values |= {"language_model": "", "effort": ""}
        begun = Conversation.objects.create(public_id=public_id, owner=self.user, scenario=self.scenario, **values)
        Conversation.objects.filter(pk=begun.pk).update(created_at=created_at)
        return begun

    def _keep_picture(self, stored: Mapping[str, Any]) -> None:
        """Encode it again, as any other picture that comes from outside."""
        read = read_picture(base64.b64decode(stored["content"].partition(";base64,")[2], validate=True))
        check_storage(self.user, more_bytes=len(read.content))
        picture = Picture.objects.create(
            conversation=self.conversation,
            uploader=self.user,
            digest=hashlib.sha256(read.content).hexdigest(),
            media_type=read.media_type,
            width=read.width,
            height=read.height,
            size_bytes=len(read.content),
            file_name=str(stored["file_name"]),
            alt_text=str(stored["alt_text"]),
            sent=True,
        )
        Picture.objects.filter(pk=picture.pk).update(created_at=stored["created_at"])
        PictureFile.objects.create(picture=picture, content=read.content)
        self.pictures[stored["digest"]] = picture.pk

    def _store_messages(self, read: Iterator[dict[str, Any]]) -> None:
        number = 0
        while some := [value for value, _ in zip(read, range(AT_ONCE), strict=False)]:
            messages, calls, ratings = [], [], []
            for value in some:
                number += 1
                if value["id"] != number:
                    raise ValueError(value["id"])
                messages.append(self._message(value))
                calls += [self._call(number, call) for call in value["calls"]]
                if value["rating"]:
                    ratings.append(self._rating(number, value["rating"]))
            copy_rows(messages)
            copy_rows(calls)
            Rating.objects.bulk_create(ratings)
        if not number:
            raise ValueError("no message")

    def _message(self, value: Mapping[str, Any]) -> Message:
        """Return the row. A file may be edited: what must be true of every message is asked of it again."""
        if value["state"] not in MessageState.values or value["state"] == MessageState.STREAMING:
            raise ValueError(value["state"])
        texts = ("content", "role", "error", "reasoning", "tool_call_id")
        if (value["follows"] or 0) >= value["id"] or not all(isinstance(value[name], str) for name in texts):
            raise ValueError(value["id"])
        if value["role"] not in MessageRole.values or not isinstance(value["error_params"], dict):
            raise ValueError(value["id"])
        if len(value["pictures"]) > MOST_PICTURES:
            raise ValueError(value["id"])
        _check_grounding(value["grounding"])
        calls = tuple(map(_read_call, value["tool_calls"]))
        said = PromptMessage(value["role"], value["content"], None, calls, value["tool_call_id"] or None)
        tokens, encoding = self._count(said, value["content_tokens"], value["encoding"])
        return Message(
            pk=self._id(value["id"]),
            conversation=self.conversation,
            parent_id=self._id_or_none(value["follows"]),
            step_of_id=self._id_or_none(value["step_of"]),
            position=value["position"] - 1,
            active=value["shown"],
            error_code=value["error"],
            picture_ids=[self.pictures[digest] for digest in value["pictures"]],
            created_at=value["created_at"],
            **{name: value[name] for name in MESSAGE},
            content_tokens=tokens,
            encoding=encoding,
        )

    def _count(self, said: PromptMessage, stored_tokens: int, encoding: str) -> tuple[int, str]:
        """Return how many tokens *said* takes, and in which encoding: never less than it has.

        Windows and reservations rely on the stored number: with one that was edited, requests would pass every limit.
        """
        if encoding not in ENCODINGS:
            return self.context.content_tokens(said), self.context.language_model.encoding
        form = self.context.language_model.chat_format
        tokens = content_tokens(said, count_text=count_text(encoding), chat_format=form)
        if stored_tokens > 2 * tokens + MOST_OVERHEAD_TOKENS:  # sums of them would not fit their columns
            raise ValueError(stored_tokens)
        return max(stored_tokens, tokens), encoding

    def _rating(self, reply: int, value: Mapping[str, Any]) -> Rating:
        clean_remark(value["remark"])  # one that is too long is refused
        if value["verdict"] not in Verdict.values:
            raise ValueError(value["verdict"])
        return Rating(reply_id=self._id(reply), **{name: value[name] for name in RATING})

    def _call(self, reply: int, value: Mapping[str, Any]) -> ToolCall:
        if value["state"] not in ENDED:
            raise ValueError(value["state"])
        named = {name: value[name] for name in CALL if name != "message_id"}
        return ToolCall(reply_id=self._id(reply), message_id=self._id_or_none(value["message_id"]), **named)

    def _store_summaries(self, versions: Iterable[dict[str, Any]]) -> None:
        copy_rows([self._summary(version) for version in map(_with_moments, versions)])

    def _summary(self, version: Mapping[str, Any]) -> Summary:
        tokens, encoding = self._count(render_summary(version["text"]), version["tokens"], version["encoding"])
        return Summary(
            conversation=self.conversation,
            covers_before=version["before_position"] - 1,
            last_message_id=self._id(version["last_message"]),
            created_at=version["created_at"],
            tokens=tokens,
            encoding=encoding,
            **{ours: version[theirs] for theirs, ours in SUMMARY.items()},
        )

    def _end(self) -> None:
        conversation = self.conversation
        PathChange.objects.create(conversation=conversation, position=0)
        conversation.head = conversation.messages.filter(active=True).latest("position")
        conversation.has_pins = conversation.messages.filter(pinned=True).exists()
        conversation.save(update_fields=["head", "has_pins"])
        self._check_the_path()
        transaction.on_commit(partial(publish, MESSAGES, "stored"))

    def _check_the_path(self) -> None:
        """Refuse what windows, maps and pages rely on and no constraint of the database says."""
        messages = self.conversation.messages
        shown = messages.filter(active=True)
        if messages.filter(parent__isnull=False).exclude(parent__conversation=self.conversation).exists():
            raise ValueError("a message follows one of another conversation")
        if messages.filter(Q(position__lte=F("parent__position")) | Q(position__gte=messages.count())).exists():
            raise ValueError("a message does not stand behind the one that it follows")
        if shown.count() != shown.aggregate(last=Max("position"))["last"] + 1:
            raise ValueError("the path has gaps")
        if shown.filter(Q(parent__active=False) | Q(step_of__active=False)).exists():
            raise ValueError("the path goes through what is not shown")

    def _id_or_none(self, number: int | None) -> int | None:
        return None if number is None else self._id(number)

    def _id(self, number: int) -> int:
        """Return the id of the message with that number of the file."""
        if not 1 <= number <= len(self.ids) + MOST_AHEAD:
            raise ValueError(number)
        while number > len(self.ids):
            self.ids += take_ids(Message, AT_ONCE)
        return self.ids[number - 1]


def _read_call(call: Mapping[str, Any]) -> PromptToolCall:
    read = PromptToolCall.from_json(call)
    if not all(isinstance(text, str) for text in (read.id, read.name, read.arguments)):
        raise ValueError(read)
    return read


def _check_grounding(passages: Any) -> None:
    texts = ("text", "source", "document", "url", "place")
    if not isinstance(passages, list) or not all(isinstance(each, dict) for each in passages):
        raise ValueError("grounding")
    if not all(isinstance(each.get(name) or "", str) for each in passages for name in texts):
        raise ValueError("grounding")


def _with_moments(value: dict[str, Any]) -> dict[str, Any]:
    """Return *value* with its moments read, also in what is listed in it."""
    return {name: _read(name, each) for name, each in value.items()}


def _read(name: str, value: Any) -> Any:
    if name == "calls":
        return [_with_moments(call) for call in value]
    if name == "rating" and value:
        return _with_moments(value)
    if name in MOMENTS and value is not None:
        moment = parse_datetime(value)
        if moment is None or moment.tzinfo is None or not FIRST <= moment < LAST:  # no others can be read again
            raise ValueError(name)
        return moment
    return value
