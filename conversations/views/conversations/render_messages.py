"""The messages of a thread rendered for pages and snapshots: Markdown as HTML, stored errors as sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import BoundedSemaphore

from django.utils.functional import Promise
from django.utils.safestring import SafeString

from conversations.core.prompt.continuation import may_be_continued
from conversations.core.window.window_record import GroundingRecord
from conversations.models.message import MessageState
from conversations.rendering import BlockStream, render_markdown
from conversations.selectors.conversations.delayed_reply import waits_without_worker
from conversations.selectors.conversations.reasoning import ShownReasoning
from conversations.selectors.conversations.thread import NO_GROUNDING, MessagePage, ThreadMessage
from conversations.selectors.conversations.tool_calls import CallRow
from conversations.selectors.conversations.window_coverage import Coverage, Mark
from conversations.wording.error_sentences import ReaderLocale, stored_error_sentence
from conversations.wording.finish_notes import finish_note
from conversations.wording.model_labels import model_label
from conversations.wording.window_labels import MARK_LABELS

from .html_cache import HtmlCache
from .sources_summary import SourcesSummary, summarize_sources

TEXTS, TEXT_BYTES = 1_000, 6 * 2**20  # that a process keeps
# However many ask for a costly conversation at once, it is rendered by few and then known to all.
_renderers = BoundedSemaphore(2)


@dataclass(frozen=True, slots=True)
class RenderedCall:
    """A tool call; *error* is the sentence that says why it failed, if it did."""

    call: CallRow
    error: str


@dataclass(frozen=True, slots=True)
class RenderedStep:
    """A stored step of a reply: *html* is the text before its calls, *reasoning* what was thought before that."""

    number: int
    html: SafeString
    calls: tuple[RenderedCall, ...]
    reasoning: ShownReasoning | None


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """A message as a page shows it.

    *html* is the whole content; of a streaming reply it is the finished blocks, and *tail* the open text from code
    point *tail_at* on. *error* is the sentence that says why a reply is not whole, or empty, and
    *finish_note* what its provider said of the end of one that has none. *mark* says whether the
    model sees the message. *model* is the label of the language model that makes a reply, and *begins_model* says that
    another one made the reply before it. *steps* come before the content, *calls* are those of the current step.
    """

    message: ThreadMessage
    html: SafeString
    tail: str
    tail_at: int
    error: str
    finish_note: str
    sources: SourcesSummary | None
    mark: Mark
    steps: tuple[RenderedStep, ...]
    calls: tuple[RenderedCall, ...]
    model: str = ""
    begins_model: bool = False
    waits_without_worker: bool = False

    @property
    def previous_model(self) -> str:
        """The label of the model that made the version before it."""
        versions = self.message.versions
        return model_label(versions.previous_model) if versions and versions.previous_model else ""

    @property
    def next_model(self) -> str:
        versions = self.message.versions
        return model_label(versions.next_model) if versions and versions.next_model else ""

    @property
    def may_be_continued(self) -> bool:
        """Whether it was cut off and says something; only the last reply of the thread can be."""
        message, completion = self.message, self.message.completion
        finish_reason = completion.finish_reason if completion else ""
        return message.is_reply and may_be_continued(
            content=message.content, state=message.state, error_code=message.error_code, finish_reason=finish_reason
        )

    @property
    def has_text(self) -> bool:
        """Whether it says anything, in whichever step."""
        return bool(self.message.content.strip()) or any(step.html for step in self.steps)

    @property
    def mark_label(self) -> Promise:
        return MARK_LABELS[self.mark]


def render_thread_page(page: MessagePage, *, reader: ReaderLocale, coverage: Coverage) -> list[RenderedMessage]:
    """Render all messages of *page*, which knows what came before them."""
    return render_messages(
        page.messages,
        reader=reader,
        coverage=coverage,
        model_before=page.model_before,
        grounding_before=page.grounding_before,
    )


def render_messages(
    messages: Iterable[ThreadMessage],
    *,
    reader: ReaderLocale,
    coverage: Coverage,
    model_before: str = "",
    grounding_before: GroundingRecord = NO_GROUNDING,
) -> list[RenderedMessage]:
    """Render *messages*, each marked by whether the window holds it.

    *model_before* is the name of the model that made the last reply before them, empty where there is none, and
    *grounding_before* what was looked up for that reply.
    """
    rendered = []
    sources_before = summarize_sources(grounding_before, reader)
    for message in messages:
        begins_model = bool(model_before and message.made_by and message.made_by != model_before)
        sources = summarize_sources(message.grounding, reader)
        shown_sources = sources if sources and sources.is_news_after(sources_before) else None
        rendered.append(_render_message(message, reader, coverage, sources=shown_sources, begins_model=begins_model))
        model_before = message.made_by or model_before
        sources_before = sources if message.is_reply else sources_before
    return rendered


def _render_message(
    message: ThreadMessage,
    reader: ReaderLocale,
    coverage: Coverage,
    *,
    sources: SourcesSummary | None,
    begins_model: bool,
) -> RenderedMessage:
    html, tail_at = _render_content(message)
    return RenderedMessage(
        message=message,
        html=html,
        tail=message.content[tail_at:],
        tail_at=tail_at,
        error=stored_error_sentence(message.error_code, message.error_params, reader),
        finish_note=_finish_note(message, reader),
        sources=sources,
        mark=coverage.mark_of(message),
        steps=_render_steps(message, reader),
        calls=_render_calls(message.steps.calls, reader),
        model=model_label(message.made_by) if message.made_by else "",
        begins_model=begins_model,
        waits_without_worker=not message.has_ended and waits_without_worker(message.pk),
    )


def _finish_note(message: ThreadMessage, reader: ReaderLocale) -> str:
    if message.state != MessageState.COMPLETE or not message.completion:
        return ""
    with reader.activated():
        return finish_note(message.completion.finish_reason)


def _render_steps(message: ThreadMessage, reader: ReaderLocale) -> tuple[RenderedStep, ...]:
    passages = len(message.grounding.included)
    return tuple(
        RenderedStep(step.number, render_ended(step.text, passages), _render_calls(step.calls, reader), step.reasoning)
        for step in message.steps.stored
    )


def _render_calls(calls: Iterable[CallRow], reader: ReaderLocale) -> tuple[RenderedCall, ...]:
    return tuple(RenderedCall(call, stored_error_sentence(call.error_code, {}, reader)) for call in calls)


def _render_content(message: ThreadMessage) -> tuple[SafeString, int]:
    """Return the HTML of the content, and up to which code point it goes: all of it once the message has ended."""
    passages = len(message.grounding.included)  # that it may cite
    if message.has_ended:
        return render_ended(message.content, passages), len(message.content)
    blocks = BlockStream(passages=passages).feed(message.content)
    return SafeString("".join(block.html for block in blocks)), blocks[-1].end if blocks else 0


def render_ended(content: str, passages: int = 0) -> SafeString:
    """Render content that does not change any more; every page and snapshot asks for it again."""
    made_from = content, passages

    def make() -> SafeString:
        with _renderers:  # after which another thread may have made it
            return _texts.get(made_from, lambda: render_markdown(content, passages=passages))

    return _texts.get(made_from, make)


_texts = HtmlCache(most_entries=TEXTS, most_bytes=TEXT_BYTES)
