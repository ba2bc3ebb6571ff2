"""What the recall of every window promises."""

from __future__ import annotations

from dataclasses import replace

from conversations.core.prompt.grounding_text import (
    RECALL_HEADER,
    RecalledPiece,
    render_question,
    render_recalled,
)
from conversations.core.window.compute_window import Window
from conversations.core.window.pack_recall import BEFORE_THE_QUESTION, MOST_TRIES
from conversations.core.window.truncation import truncate_text
from conversations.core.window.window_record import RecallEntry

from .cases import Case
from .grounding_promises import question
from .languages import by_character
from .older_promises import older_positions, room_tokens
from .step_promises import kept_steps


def recall_keeps_to_its_share(case: Case, window: Window) -> None:
    record = window.record
    newest = record.entries[-1 - len(kept_steps(case))]
    assert 0 <= record.recall.tokens <= record.recall.limit_tokens
    older_tokens = sum(entry.tokens for entry in record.entries if entry.kind == "older")
    is_next_too_large = any(message.reason == "does_not_fit" for message in record.left_out)
    unusable_tokens = record.older_limit_tokens - older_tokens if is_next_too_large else 0
    room = room_tokens(case, window)
    assert record.recall.limit_tokens <= room - older_tokens
    if not case.policy.always_refills:  # there older messages that the recalled ones leave room for come, too
        assert record.recall.limit_tokens <= case.policy.recall_tokens(room) + unusable_tokens
    assert record.recall.tokens == newest.tokens - case.newest.tokens(case.chat_format) - record.grounding.tokens


def nothing_is_sent_twice(case: Case, window: Window) -> None:
    """Neither what is in the window, as an older message or a pin, nor the same piece again."""
    in_view = {entry.position for entry in window.record.entries if entry.position is not None}
    seen: set[tuple[int, int]] = set()
    said = set()
    for entry in window.record.recall.included:
        assert entry.position < window.record.first_position
        assert entry.position not in in_view
        characters = {(entry.position, place) for place in range(entry.start, entry.end)}
        assert not seen & characters
        seen |= characters
        said.add((case.stored[entry.position].message.role, text_of(case, entry)))
    assert len(said) == len(window.record.recall.included)


def the_best_come_first(case: Case, window: Window) -> None:
    offered = [(passage.position, passage.start, passage.end) for passage in case.recalled or ()]
    for entries in (window.record.recall.included, window.record.recall.left_out):
        places = [offered.index((entry.position, entry.start, entry.end)) for entry in entries]
        assert places == sorted(places)


def what_is_sent_can_be_told_from_the_record(case: Case, window: Window) -> None:
    """The text comes back from the record and the stored messages alone."""
    record = window.record
    pieces = [piece(case, entry) for entry in record.recall.included]
    passages = [
        replace(
            case.passages[seen.number - 1], text=truncate_text(case.passages[seen.number - 1].text, seen.truncated_to)
        )
        for seen in record.grounding.included
    ]
    content, left_out = case.newest.message.content, len(record.grounding.left_out)
    assert question(case, window).content == render_question(content, passages, left_out=left_out, recalled=pieces)
    assert (RECALL_HEADER in question(case, window).content) == bool(pieces)


def no_more_recall_would_fit(case: Case, window: Window) -> None:
    record = window.record.recall
    if case.count_text is not by_character or len(case.recalled or ()) > MOST_TRIES:
        return
    included = [piece(case, entry) for entry in record.included]
    room = record.limit_tokens - case.count_text(BEFORE_THE_QUESTION)
    for entry in record.left_out:
        assert case.count_text(render_recalled([*included, piece(case, entry)])) > room


def the_beginning_does_not_depend_on_what_is_recalled(case: Case, window: Window) -> None:
    without = replace(case, recalled=None).window()
    assert without.record.recall.tokens == 0
    if not case.policy.always_refills:
        assert older_positions(without) == older_positions(window)
        assert without.record.first_position == window.record.first_position
        assert without.prompt[: len(case.pins)] == window.prompt[: len(case.pins)]


def piece(case: Case, entry: RecallEntry) -> RecalledPiece:
    return RecalledPiece(
        position=entry.position,
        start=entry.start,
        end=entry.end,
        at=entry.at,
        role=case.stored[entry.position].message.role,
        text=text_of(case, entry),
        is_whole=not entry.is_cut,
    )


def text_of(case: Case, entry: RecallEntry) -> str:
    return case.stored[entry.position].message.content[entry.start : entry.end]


PROMISES = (
    recall_keeps_to_its_share,
    nothing_is_sent_twice,
    the_best_come_first,
    what_is_sent_can_be_told_from_the_record,
    no_more_recall_would_fit,
    the_beginning_does_not_depend_on_what_is_recalled,
)
