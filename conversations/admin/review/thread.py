"""One page of a conversation's active path for reviewers, with the window and the cost of every reply.

Positions on the active path have no gaps, so a page is one range of an index and nothing is ever counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict, cast

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Left, Length
from django.utils.safestring import SafeString

from conversations.admin.ledger.window_record import ShownWindow
from conversations.models import Completion, Conversation, Message, Rating, ToolCall
from conversations.rendering import render_markdown
from conversations.selectors.conversations.pictures import ShownPicture, shown_pictures

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class BeginningColumns(TypedDict):
        beginning: str
        characters: int
        thoughts: str
        thoughts_characters: int

    MessageBeginning = WithAnnotations[Message, BeginningColumns]

PAGE_MESSAGES = 20
SHOWN_CHARACTERS = 20_000
CONTENT_FIELDS = (
    "content",
    "reasoning",
    "grounding",
    "tool_calls",
    "error_params",
)  # the columns that may quote people


@dataclass
class ShownMessage:
    """A message with its completions, oldest first, and how many other versions stand beside it.

    *has_content* if the content was read, too; without it there are numbers only. *calls* are the tool calls
    whose result the message is, or those of a reply that are in none of its steps. *pictures* are content, too.
    """

    message: Message
    windows: list[ShownWindow]
    other_versions: int
    has_content: bool
    calls: list[ToolCall]
    pictures: tuple[ShownPicture, ...] = ()

    @cached_property
    def html(self) -> SafeString:
        return render_markdown(cast("MessageBeginning", self.message).beginning)

    @property
    def rating(self) -> Rating | None:
        """What the owner thinks of it; the remark was read only with the content."""
        return getattr(self.message, "rating", None)

    @property
    def thoughts(self) -> str:
        """The beginning of what was thought before the content."""
        return cast("MessageBeginning", self.message).thoughts if self.has_content else ""

    @property
    def hidden_thoughts(self) -> int:
        """How many more characters of that there are."""
        return max(cast("MessageBeginning", self.message).thoughts_characters - SHOWN_CHARACTERS, 0)

    @property
    def hidden_characters(self) -> int:
        if not self.has_content:
            return 0
        return max(cast("MessageBeginning", self.message).characters - SHOWN_CHARACTERS, 0)


@dataclass(frozen=True)
class ReviewedPage:
    """The messages from position *first* to *last* of a path that ends at *head*."""

    messages: list[ShownMessage]
    first: int
    last: int
    head: int

    @property
    def older_from(self) -> int | None:
        return max(self.first - PAGE_MESSAGES, 0) if self.first else None

    @property
    def newer_from(self) -> int | None:
        return self.last + 1 if self.last < self.head else None


def read_thread(conversation: Conversation, *, head: int, start: int | None, has_content: bool) -> ReviewedPage:
    """Return the page that begins at position *start*, or else the newest, of a path that ends at *head*."""
    newest = max(head - PAGE_MESSAGES + 1, 0)
    first = newest if start is None else min(max(start, 0), newest)
    last = min(first + PAGE_MESSAGES - 1, head)
    messages = conversation.messages.filter(active=True, position__range=(first, last)).order_by("position")
    return ReviewedPage(show_messages(messages, has_content=has_content), first, last, head)


def show_messages(messages: QuerySet[Message], *, has_content: bool) -> list[ShownMessage]:
    """Return *messages* with all that is shown with them, in a fixed number of queries."""
    messages = messages.select_related("rating")
    if not has_content:
        messages = messages.defer(*CONTENT_FIELDS, "rating__remark")
    rows = list(with_beginning(messages) if has_content else messages)
    windows = _windows_of(rows)
    versions = _versions_beside(rows)
    calls = _calls_of(rows)
    pictures = shown_pictures([row.pk for row in rows if row.picture_ids]) if has_content else {}
    return [
        ShownMessage(row, windows[row.pk], _beside(row, versions), has_content, calls[row.pk], pictures.get(row.pk, ()))
        for row in rows
    ]


def _beside(message: Message, versions: dict[int | None, int]) -> int:
    return 0 if message.step_of_id else versions[message.parent_id] - 1


def with_beginning(messages: QuerySet[Message]) -> QuerySet[Message]:
    """Read only as much of every content and reasoning as is shown."""
    return messages.defer("content", "reasoning").annotate(
        beginning=Left("content", SHOWN_CHARACTERS),
        characters=Length("content"),
        thoughts=Left("reasoning", SHOWN_CHARACTERS),
        thoughts_characters=Length("reasoning"),
    )


def _windows_of(messages: Iterable[Message]) -> dict[int, list[ShownWindow]]:
    windows: dict[int, list[ShownWindow]] = defaultdict(list)
    completions = Completion.objects.filter(reply__in=[m.pk for m in messages if m.role == "assistant"])
    for completion in completions.order_by("pk"):
        windows[cast(int, completion.reply_id)].append(ShownWindow(completion))
    return windows


def _calls_of(messages: Iterable[Message]) -> dict[int, list[ToolCall]]:
    """Return the calls, without their content, by the message that has their result, else by their reply."""
    ids = [message.pk for message in messages if message.role != "user"]
    found = ToolCall.objects.filter(Q(message__in=ids) | Q(message=None, reply__in=ids))
    calls: dict[int, list[ToolCall]] = defaultdict(list)
    for call in found.defer("arguments", "result").order_by("step", "index"):
        calls[call.message_id or call.reply_id].append(call)
    return calls


def _versions_beside(messages: list[Message]) -> dict[int | None, int]:
    """Count the messages with the same parents: their versions."""
    versions: dict[int | None, int] = defaultdict(lambda: 1)
    parents = [message.parent_id for message in messages if message.parent_id]
    beside = Q(parent__in=parents)
    if len(parents) < len(messages):
        beside |= Q(conversation=messages[0].conversation_id, parent=None)
    counted = Message.objects.filter(beside, step_of=None).order_by().values_list("parent").annotate(Count("pk"))
    versions.update(counted if messages else ())
    return versions
