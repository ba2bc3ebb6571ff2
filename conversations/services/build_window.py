"""Feed the pure window from the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conversations.core.history import HistoryMessage
from conversations.core.messages import PromptMessage
from conversations.core.policy import FULL
from conversations.core.prompt import Passage
from conversations.core.window import Turn, Window, compute_window
from conversations.models import Conversation, Message
from conversations.selectors.history import HistoryRow, read_history

from .language import Language, language_of


def build_window(conversation: Conversation, newest: HistoryMessage, *, grounding: Sequence[Passage] = ()) -> Window:
    """Compute the window that answers *newest*, a user message stored or still a draft. Raises `PromptError`."""
    history = read_history(conversation.pk, before=newest.position)
    return _window(conversation, newest, history.pins, history.newest_first, grounding)


def check_it_fits(conversation: Conversation, newest: HistoryMessage) -> None:
    """Raise the `PromptError` that sending *newest* would raise; what may be left out is not read."""
    history = read_history(conversation.pk, before=newest.position)
    older = history.newest_first if conversation.scenario.policy.name == FULL else ()
    _window(conversation, newest, history.pins, older)


def _window(
    conversation: Conversation,
    newest: HistoryMessage,
    pins: Iterable[HistoryRow],
    older: Iterable[HistoryRow],
    grounding: Sequence[Passage] = (),
) -> Window:
    scenario = conversation.scenario
    language = language_of(scenario)
    return compute_window(
        Turn(newest, scenario.system_prompt, grounding=grounding, pins=tuple(_counted(pins, language))),
        _counted(older, language),
        language_model=language.language_model,
        policy=scenario.policy,
        count_text=language.count_text,
    )


def draft_message(content: str, *, position: int, language: Language) -> HistoryMessage:
    """Return *content* as the newest user message, counted."""
    message = PromptMessage("user", content)
    return HistoryMessage(position, message, language.content_tokens(message))


def stored_message(message: Message, language: Language) -> HistoryMessage:
    """Return a stored user message as the window knows it."""
    row = HistoryRow(
        id=message.pk,
        position=message.position,
        role=message.role,
        content=message.content,
        content_tokens=message.content_tokens,
        encoding=message.encoding,
    )
    return next(_counted([row], language))


def passages(grounding: Iterable[dict[str, Any]]) -> list[Passage]:
    """Return the stored grounding of a message, best first."""
    return [Passage(piece["text"], piece.get("source", ""), piece.get("score")) for piece in grounding]


def _counted(rows: Iterable[HistoryRow], language: Language) -> Iterator[HistoryMessage]:
    """Yield *rows* with their stored counts; what another encoding counted is counted once more, and stored."""
    encoding = language.language_model.encoding
    for row in rows:
        if row.encoding == encoding and (row.content_tokens or not row.content):  # a reply is counted when it ends
            yield row.to_history()
        else:
            yield _recount(row, language).to_history()


def _recount(row: HistoryRow, language: Language) -> HistoryRow:
    tokens = language.content_tokens(row.to_history().message)
    Message.objects.filter(pk=row.id).exclude(state="streaming").update(
        content_tokens=tokens, encoding=language.language_model.encoding
    )
    return row._replace(content_tokens=tokens, encoding=language.language_model.encoding)
