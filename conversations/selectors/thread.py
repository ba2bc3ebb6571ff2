"""What a page shows of a conversation: messages from the end upwards, each rendered, each reply with its costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.safestring import SafeString

from conversations.core.errors import sentence_for
from conversations.models import Completion, Conversation, Message
from conversations.rendering import BlockStream, render_markdown

PAGE_MESSAGES = 30
MOST_IN_A_SNAPSHOT = 200


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message as it is shown. *html* is the whole content; of a streaming reply it is the finished blocks, and
    *tail* the open text from code point *tail_at* on. *completion* is the last request that was made for a reply."""

    message: Message
    html: SafeString
    tail: str = ""
    tail_at: int = 0
    completion: Completion | None = None

    @property
    def length(self) -> int:
        """The content's code points."""
        return len(self.message.content)

    @property
    def is_reply(self) -> bool:
        return self.message.role == "assistant"

    @property
    def is_streaming(self) -> bool:
        return not self.message.has_ended

    @property
    def error(self) -> str:
        """The sentence that says why the reply is not whole, or nothing."""
        return sentence_for(self.message.error_code) if self.message.error_code else ""

    @property
    def window_first_position(self) -> int | None:
        """The oldest position that the language model saw for this reply."""
        return self.completion.window["first_position"] if self.completion else None


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """Messages oldest first. *has_older* if there are some before *first_position*."""

    messages: list[ThreadMessage]
    has_older: bool

    @property
    def first_position(self) -> int:
        return self.messages[0].message.position if self.messages else 0


def thread_page(conversation: Conversation, *, before: int | None = None, limit: int = PAGE_MESSAGES) -> ThreadPage:
    """Return the last *limit* messages, or those before position *before*."""
    path = conversation.messages.filter(active=True)
    if before is not None:
        path = path.filter(position__lt=before)
    newest_first = list(path.order_by("-position")[:limit])
    return _page(reversed(newest_first))


def thread_from(conversation: Conversation, from_position: int) -> ThreadPage:
    """Return the messages from *from_position* on; of very many, the newest."""
    path = conversation.messages.filter(active=True, position__gte=from_position)
    newest_first = list(path.order_by("-position")[:MOST_IN_A_SNAPSHOT])
    return _page(reversed(newest_first))


def latest_completion(conversation: Conversation) -> Completion | None:
    """Return the newest request made for an active reply: its window is what the model saw last."""
    return (
        conversation.completions.filter(purpose="reply", reply__active=True).order_by("-reply__position", "-id").first()
    )


def _page(oldest_first: Iterable[Message]) -> ThreadPage:
    messages = list(oldest_first)
    completions = _last_completions(messages)
    shown = [_shown(message, completions.get(message.pk)) for message in messages]
    return ThreadPage(shown, has_older=bool(messages) and messages[0].position > 0)


def _last_completions(messages: Iterable[Message]) -> dict[int, Completion]:
    replies = [message.pk for message in messages if message.role == "assistant"]
    return {row.reply_id: row for row in Completion.objects.filter(reply_id__in=replies).order_by("id")}


def _shown(message: Message, completion: Completion | None) -> ThreadMessage:
    if message.has_ended:
        return ThreadMessage(message, render_markdown(message.content), completion=completion)
    blocks = BlockStream().feed(message.content)
    tail_at = blocks[-1].end if blocks else 0
    html = SafeString("".join(block.html for block in blocks))
    return ThreadMessage(message, html, message.content[tail_at:], tail_at, completion)
