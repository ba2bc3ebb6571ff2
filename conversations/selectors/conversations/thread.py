"""What a page shows of a conversation: messages from the end upwards, each rendered, each reply with its costs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from threading import BoundedSemaphore

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils.functional import Promise
from django.utils.safestring import SafeString

from conversations.models import Completion, Conversation, Message, ToolCall
from conversations.rendering import BlockStream, render_markdown
from conversations.wording.error_sentences import Reader, stored_sentence

from .reply_costs import ReplyCost, reply_cost, with_reply_cost
from .sources import SourcesSummary, grounding_record, summary_of
from .thread_steps import NO_STEPS, ThreadSteps, thread_steps
from .versions import Versions, versions_of
from .window_coverage import EVERYTHING, MARK_WORDS, Mark, Sight

PAGE_MESSAGES = 30
MOST_IN_A_SNAPSHOT = 200
# However many ask for a costly conversation at once, it is rendered by few and then known to all.
_renderers = BoundedSemaphore(2)


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message as it is shown.

    *html* is the whole content; of a streaming reply it is the finished blocks, and *tail* the open text from code
    point *tail_at* on. *length* counts the content's code points. *completion* is the last request made for a reply,
    and *cost* what all of them cost, unless its owner hides that. *sources* tell what was looked up for it, and
    *question* is what it answers. *steps* are what it has asked of tools, before its own content. *error* is the
    sentence that says why a reply is not whole, or nothing. *mark* says whether the model sees it. *parent* is the
    message that it follows, and *versions* are there if something else was said in its place.
    """

    pk: int
    parent: int | None
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
    cost: ReplyCost | None
    sources: SourcesSummary | None
    question: str
    pinned: bool
    excluded: bool
    mark: Mark
    versions: Versions | None
    steps: ThreadSteps

    @property
    def first_position(self) -> int:
        """Where it begins on the path: a reply with its first step."""
        return self.position - self.steps.messages

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
        return self.messages[0].first_position if self.messages else 0


def thread_page(
    conversation: Conversation,
    *,
    reader: Reader,
    sight: Sight = EVERYTHING,
    before: int | None = None,
    limit: int = PAGE_MESSAGES,
) -> ThreadPage:
    """Return the last *limit* messages, or those before position *before*, marked by what the model sees."""
    path = _shown_by_themselves(conversation)
    if before is not None:
        path = path.filter(position__lt=before)
    newest_first = list(path.order_by("-position")[:limit])
    return _page(conversation, reversed(newest_first), reader, sight)


def thread_from(
    conversation: Conversation, from_position: int, *, reader: Reader, sight: Sight = EVERYTHING
) -> ThreadPage:
    """Return the messages from *from_position* on; of very many, the newest."""
    path = _shown_by_themselves(conversation).filter(position__gte=from_position)
    newest_first = list(path.order_by("-position")[:MOST_IN_A_SNAPSHOT])
    return _page(conversation, reversed(newest_first), reader, sight)


def _shown_by_themselves(conversation: Conversation) -> QuerySet[Message]:
    """Return the messages of the path; those that are steps of a reply are shown with it.

    Each with the step that its calls have reached, None without any, and the last one that is stored: read together
    with its content, which begins anew with each.
    """
    steps = ToolCall.objects.filter(reply=OuterRef("pk")).order_by("-step").values("step")
    path = conversation.messages.filter(active=True, step_of=None).defer("grounding")
    return path.annotate(last_step=Subquery(steps[:1]), stored_step=Subquery(steps.exclude(message=None)[:1]))


def _page(conversation: Conversation, oldest_first: Iterable[Message], reader: Reader, sight: Sight) -> ThreadPage:
    messages = list(oldest_first)
    completions = _last_completions(messages, with_costs=conversation.owner.shows_costs)
    questions = _questions(messages)
    versions = versions_of(messages)
    steps = _steps(messages, completions, reader)
    shown = [
        _shown(
            message,
            completion=completions.get(message.pk),
            shows_costs=conversation.owner.shows_costs,
            question=questions.get(message.parent_id, ""),
            versions=versions.get(message.pk),
            steps=steps.get(message.pk, NO_STEPS),
            reader=reader,
            sight=sight,
        )
        for message in messages
    ]
    return ThreadPage(shown, has_older=bool(messages) and messages[0].position > 0)


def _steps(messages: list[Message], completions: dict[int, Completion], reader: Reader) -> dict[int, ThreadSteps]:
    def render(reply: int, words: str) -> SafeString:
        return _render_ended(words, _passages_of(completions.get(reply)))

    read = {message.pk: vars(message) for message in messages}  # what was annotated is no field of the model
    stored = {pk: columns["stored_step"] or 0 for pk, columns in read.items() if columns["last_step"]}
    return thread_steps(stored, render=render, reader=reader) if stored else {}


def _questions(oldest_first: list[Message]) -> dict[int | None, str]:
    """Return what was asked, by id; a page or a snapshot may begin with the reply to it."""
    first = oldest_first[:1]
    asked = Message.objects.filter(pk__in=[message.parent_id for message in first if message.role == "assistant"])
    return {
        **dict(asked.values_list("pk", "content")),
        **{message.pk: message.content for message in oldest_first if message.role == "user"},
    }


def _last_completions(messages: Iterable[Message], *, with_costs: bool) -> dict[int, Completion]:
    replies = [message.pk for message in messages if message.role == "assistant"]
    last = Completion.objects.filter(reply_id__in=replies).order_by("reply_id", "-id").distinct("reply_id")
    of_window = {"grounding": F("window__grounding"), "tools_withheld": F("window__tools_withheld")}
    rows = last.defer("window", "request").annotate(**of_window)
    rows = with_reply_cost(rows) if with_costs else rows
    return {row.reply_id: row for row in rows if row.reply_id}


def _shown(
    message: Message,
    *,
    completion: Completion | None,
    shows_costs: bool,
    question: str,
    versions: Versions | None,
    steps: ThreadSteps,
    reader: Reader,
    sight: Sight,
) -> ThreadMessage:
    grounding = grounding_record(getattr(completion, "grounding", None))
    html, tail_at = _rendered(message, passages=len(grounding.included))
    code, params = message.error_code, message.error_params
    return ThreadMessage(
        pk=message.pk,
        parent=message.parent_id,
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
        cost=reply_cost(completion) if completion and shows_costs else None,
        sources=summary_of(grounding, reader),
        question=question,
        pinned=message.pinned,
        excluded=message.excluded,
        mark=sight.mark_of(message),
        versions=versions,
        steps=steps,
    )


def _passages_of(completion: Completion | None) -> int:
    """Return how many passages a reply may cite."""
    return len(grounding_record(getattr(completion, "grounding", None)).included)


def _render_ended(content: str, passages: int) -> SafeString:
    """Render a message whose content does not change any more; every page and snapshot asks for it again."""
    with _renderers:
        return _render_once(content, passages)


@lru_cache(maxsize=1_000)
def _render_once(content: str, passages: int) -> SafeString:
    return render_markdown(content, passages=passages)


def _rendered(message: Message, *, passages: int) -> tuple[SafeString, int]:
    """Return the HTML of the message, and up to which code point it goes: all of it once the message has ended.

    *passages* is how many it may cite.
    """
    if message.has_ended:
        return _render_ended(message.content, passages), len(message.content)
    blocks = BlockStream(passages=passages).feed(message.content)
    return SafeString("".join(block.html for block in blocks)), blocks[-1].end if blocks else 0
