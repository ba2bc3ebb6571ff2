"""What a page shows of a conversation: messages from the end upwards, each rendered, each reply with its costs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from threading import BoundedSemaphore

from django.utils.functional import Promise
from django.utils.safestring import SafeString

from conversations.models import Completion, Conversation, Message
from conversations.rendering import BlockStream, render_markdown
from conversations.sentences import Reader, stored_sentence

from .sight import EVERYTHING, MARK_WORDS, Mark, Sight

PAGE_MESSAGES = 30
MOST_IN_A_SNAPSHOT = 200
# However many ask for a costly conversation at once, it is rendered by few and then known to all.
_renderers = BoundedSemaphore(2)


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message as it is shown.

    *html* is the whole content; of a streaming reply it is the finished blocks, and *tail* the open text from code
    point *tail_at* on. *length* counts the content's code points. *completion* is the last request made for a reply.
    *error* is the sentence that says why a reply is not whole, or nothing. *mark* says whether the model sees it.
    """

    pk: int
    position: int
    role: str
    state: str
    created_at: dt.datetime
    length: int
    html: SafeString
    tail: str
    tail_at: int
    error: str
    completion: Completion | None
    pinned: bool
    excluded: bool
    mark: Mark

    @property
    def mark_words(self) -> Promise:
        return MARK_WORDS[self.mark]

    @property
    def is_reply(self) -> bool:
        return self.role == "assistant"


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """Messages oldest first. *has_older* if there are some before *first_position*."""

    messages: list[ThreadMessage]
    has_older: bool

    @property
    def first_position(self) -> int:
        return self.messages[0].position if self.messages else 0


def thread_page(
    conversation: Conversation,
    *,
    reader: Reader,
    sight: Sight = EVERYTHING,
    before: int | None = None,
    limit: int = PAGE_MESSAGES,
) -> ThreadPage:
    """Return the last *limit* messages, or those before position *before*, marked by what the model sees."""
    path = conversation.messages.filter(active=True)
    if before is not None:
        path = path.filter(position__lt=before)
    newest_first = list(path.order_by("-position")[:limit])
    return _page(reversed(newest_first), reader, sight)


def thread_from(
    conversation: Conversation, from_position: int, *, reader: Reader, sight: Sight = EVERYTHING
) -> ThreadPage:
    """Return the messages from *from_position* on; of very many, the newest."""
    path = conversation.messages.filter(active=True, position__gte=from_position)
    newest_first = list(path.order_by("-position")[:MOST_IN_A_SNAPSHOT])
    return _page(reversed(newest_first), reader, sight)


def _page(oldest_first: Iterable[Message], reader: Reader, sight: Sight) -> ThreadPage:
    messages = list(oldest_first)
    completions = _last_completions(messages)
    shown = [_shown(message, completions.get(message.pk), reader, sight) for message in messages]
    return ThreadPage(shown, has_older=bool(messages) and messages[0].position > 0)


def _last_completions(messages: Iterable[Message]) -> dict[int, Completion]:
    replies = [message.pk for message in messages if message.role == "assistant"]
    last = Completion.objects.filter(reply_id__in=replies).order_by("reply_id", "-id").distinct("reply_id")
    return {row.reply_id: row for row in last.defer("window") if row.reply_id}


def _shown(message: Message, completion: Completion | None, reader: Reader, sight: Sight) -> ThreadMessage:
    html, tail_at = _rendered(message)
    code, params = message.error_code, message.error_params
    return ThreadMessage(
        pk=message.pk,
        position=message.position,
        role=message.role,
        state=message.state,
        created_at=message.created_at,
        length=len(message.content),
        html=html,
        tail=message.content[tail_at:],
        tail_at=tail_at,
        error=stored_sentence(code, params, reader) if code else "",
        completion=completion,
        pinned=message.pinned,
        excluded=message.excluded,
        mark=sight.mark_of(message),
    )


def _render_ended(content: str) -> SafeString:
    """Render a message whose content does not change any more; every page and snapshot asks for it again."""
    with _renderers:
        return _render_once(content)


@lru_cache(maxsize=1_000)
def _render_once(content: str) -> SafeString:
    return render_markdown(content)


def _rendered(message: Message) -> tuple[SafeString, int]:
    """Return the HTML of the message, and up to which code point it goes: all of it once the message has ended."""
    if message.has_ended:
        return _render_ended(message.content), len(message.content)
    blocks = BlockStream().feed(message.content)
    return SafeString("".join(block.html for block in blocks)), blocks[-1].end if blocks else 0
