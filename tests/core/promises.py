"""What every window promises, each promise checked from the case alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from conversations.core.budget import message_tokens
from conversations.core.errors import (
    ConversationTooLong,
    MessageTooLong,
    PinsTooLong,
    PromptError,
    SystemPromptTooLong,
    ToolSchemasTooLong,
)
from conversations.core.history import HistoryMessage
from conversations.core.policy import FULL, LAST_N_MESSAGES, SLIDING
from conversations.core.prompt import CUT_MARK, render_passage, render_question
from conversations.core.record import WindowRecord
from conversations.core.window import Window

from .cases import MARKER, Case, StoredUnit


def never_over_budget(case: Case, window: Window) -> None:
    record = window.record
    assert record.prompt_tokens <= record.budget_tokens == case.budget_tokens
    assert record.budget_tokens * case.calibration + record.reply_reserve_tokens <= record.context_window_tokens


def the_prompt_as_rendered_counts_what_the_record_says(case: Case, window: Window) -> None:
    rendered = [
        message_tokens(message, count_text=case.count_text, chat_format=case.chat_format) for message in window.prompt
    ]
    record = window.record
    assert rendered == [entry.tokens for entry in record.entries]
    assert [message.role for message in window.prompt] == [entry.role for entry in record.entries]
    assert record.prompt_tokens == case.chat_format.priming_tokens + case.tool_schema_tokens + sum(rendered)


def the_newest_message_is_last_and_whole(case: Case, window: Window) -> None:
    newest = window.prompt[-1]
    assert newest.role == "user"
    assert newest.content.endswith(case.newest.message.content)
    assert window.record.entries[-1].message == case.newest.id


def the_order_is_system_pins_older_newest(case: Case, window: Window) -> None:
    entries = window.record.entries
    kinds = [entry.kind for entry in entries]
    assert kinds == sorted(kinds, key=("system", "pin", "older", "newest").index)
    assert kinds.count("system") == bool(case.system_prompt)
    assert kinds.count("newest") == 1
    assert [entry.position for entry in entries if entry.kind == "pin"] == [pin.position for pin in case.pins]
    assert older_positions(window) == sorted(set(older_positions(window)))


def what_is_stored_is_sent_word_for_word(case: Case, window: Window) -> None:
    """So neither a grounding of long ago nor anything else can have been added to an older message."""
    for message, entry in zip(window.prompt[:-1], window.record.entries[:-1], strict=True):
        if entry.kind == "system":
            assert message.content == case.system_prompt
        else:
            assert message == case.stored[entry.position].message
            assert entry.message == case.stored[entry.position].id


def it_is_as_full_as_possible(case: Case, window: Window) -> None:
    """Choose again, the plain way: newest first, until one does not fit."""
    older_tokens = sum(entry.tokens for entry in window.record.entries if entry.kind == "older")
    room = case.budget_tokens - window.record.prompt_tokens + older_tokens
    most = case.policy.last_messages - 1 if case.policy.name == LAST_N_MESSAGES else len(case.stored)
    expected: list[HistoryMessage] = []
    for unit in case.sendable_units:
        tokens = unit.tokens(case.chat_format)
        if len(expected) + len(unit.messages) > most or (tokens > room and not case.policy.skip_oversized):
            break
        if tokens <= room:
            expected += reversed(unit.messages)
            room -= tokens
    assert older_positions(window) == [message.position for message in reversed(expected)]


def what_was_left_out_for_its_size_does_not_fit(case: Case, window: Window) -> None:
    remaining = window.record.budget_tokens - window.record.prompt_tokens
    for unit, reason in left_out_units(case, window):
        if reason in ("does_not_fit", "oversized"):
            assert unit.tokens(case.chat_format) > remaining
            assert case.policy.name != FULL
        elif reason == "policy":
            assert len(older_positions(window)) + 1 + len(unit.messages) > case.policy.last_messages
        else:
            assert reason == unit.flaw


def a_unit_is_sent_whole_or_not_at_all(case: Case, window: Window) -> None:
    sent = {entry.position for entry in window.record.entries}
    for unit in case.units:
        positions = {message.position for message in unit.messages}
        assert not sent & positions if unit.flaw else positions <= sent or not sent & positions


def a_tool_result_follows_its_call(case: Case, window: Window) -> None:
    awaited: list[str] = []
    for message in window.prompt:
        if message.role == "tool":
            assert message.tool_call_id == awaited.pop(0)
        else:
            assert not awaited
            awaited = [call.id for call in message.tool_calls]
    assert not awaited


def grounding_keeps_to_its_share(case: Case, window: Window) -> None:
    grounding, newest = window.record.grounding, window.record.entries[-1]
    assert 0 <= grounding.tokens <= grounding.limit_tokens
    assert grounding.limit_tokens <= case.budget_tokens * case.policy.grounding_share
    assert grounding.tokens == newest.tokens - case.newest.tokens(case.chat_format)


def grounding_is_whole_passages_by_rank_of_which_only_the_last_is_cut(case: Case, window: Window) -> None:
    grounding, content = window.record.grounding, window.prompt[-1].content
    passages = grounding.included + grounding.left_out
    assert [passage.number for passage in passages] == list(range(1, len(case.passages) + 1))
    assert not any(passage.cut for passage in (*grounding.included[:-1], *grounding.left_out))
    for seen, passage in zip(passages, case.passages, strict=True):
        is_whole = render_passage(seen.number, passage) in content
        assert is_whole == (seen in grounding.included and not seen.cut)


def a_cut_passage_is_marked_where_it_was_cut(case: Case, window: Window) -> None:
    included, content = window.record.grounding.included, window.prompt[-1].content
    assert content.count(CUT_MARK) == sum(passage.cut for passage in included)
    if CUT_MARK in content:
        beginning = content[content.rindex(MARKER, 0, content.index(CUT_MARK)) : content.index(CUT_MARK)]
        assert case.passages[len(included) - 1].text.startswith(beginning.rstrip())


def no_more_grounding_would_fit(case: Case, window: Window) -> None:
    whole = [passage for passage in window.record.grounding.included if not passage.cut]
    if len(whole) == len(case.passages):
        return
    content, more = case.newest.message.content, case.passages[: len(whole) + 1]
    text = render_question(content, more, left_out=len(case.passages) - len(more))
    assert case.count_text(text) - case.count_text(content) > window.record.grounding.limit_tokens


def every_message_that_was_read_is_accounted_for(case: Case, window: Window) -> None:
    """And no message is read that was not needed, but the one that ends a unit."""
    read: list[int] = []
    assert case.window(_noting(case.newest_first(), read)) == window
    seen = {entry.position for entry in window.record.entries} | {m.position for m in window.record.left_out}
    unaccounted = [position for position in read if position not in seen]
    assert unaccounted in ([], read[-1:])
    assert seen - {case.newest.position, None} - {pin.position for pin in case.pins} <= set(read)


def _noting(messages: Iterator[HistoryMessage], read: list[int]) -> Iterator[HistoryMessage]:
    for message in messages:
        read.append(message.position)
        yield message


def the_record_says_where_the_seen_part_begins(case: Case, window: Window) -> None:
    record = window.record
    assert record.first_position == min([*older_positions(window), case.newest.position])
    pinned = {pin.position for pin in case.pins}
    assert record.unseen_messages == len([p for p in range(record.first_position) if p not in pinned])


def the_record_survives_storage(case: Case, window: Window) -> None:
    assert WindowRecord.from_json(json.loads(json.dumps(window.record.to_json()))) == window.record


def older_positions(window: Window) -> list[int]:
    return [entry.position for entry in window.record.entries if entry.kind == "older"]


def left_out_units(case: Case, window: Window) -> Iterator[tuple[StoredUnit, str]]:
    """Yield the units that were looked at and left out, with the reason that all of their messages share."""
    reasons = {message.position: message.reason for message in window.record.left_out}
    for unit in case.units:
        found = {reasons.get(message.position) for message in unit.messages}
        if found != {None}:
            (reason,) = found
            yield unit, reason


PROMISES = (
    never_over_budget,
    the_prompt_as_rendered_counts_what_the_record_says,
    the_newest_message_is_last_and_whole,
    the_order_is_system_pins_older_newest,
    what_is_stored_is_sent_word_for_word,
    it_is_as_full_as_possible,
    what_was_left_out_for_its_size_does_not_fit,
    a_unit_is_sent_whole_or_not_at_all,
    a_tool_result_follows_its_call,
    grounding_keeps_to_its_share,
    grounding_is_whole_passages_by_rank_of_which_only_the_last_is_cut,
    a_cut_passage_is_marked_where_it_was_cut,
    no_more_grounding_would_fit,
    every_message_that_was_read_is_accounted_for,
    the_record_says_where_the_seen_part_begins,
    the_record_survives_storage,
)


def the_refusal_says_whose_fault_it_is_and_by_how_much(case: Case, error: PromptError) -> None:
    expected = next((culprit, over) for culprit, over in _tokens_over(case) if over > 0)
    assert (type(error), error.tokens_over) == expected


def _tokens_over(case: Case) -> Iterator[tuple[type[PromptError], int]]:
    """Yield by how many tokens each part is too long, in the order in which they are asked to fit."""
    overhead_tokens = case.chat_format.overhead_tokens
    over = case.chat_format.priming_tokens + overhead_tokens + 1 - case.budget_tokens
    yield PromptError, over
    over += overhead_tokens + case.count_text(case.system_prompt) if case.system_prompt else 0
    yield SystemPromptTooLong, over
    over += case.tool_schema_tokens
    yield ToolSchemasTooLong, over
    over += sum(pin.tokens(case.chat_format) for pin in case.pins)
    yield PinsTooLong, over
    over += case.newest.content_tokens - 1
    cap_tokens = case.policy.message_cap_tokens or case.newest.content_tokens
    yield MessageTooLong, max(over, case.newest.content_tokens - cap_tokens)
    over += replace(case, policy=replace(case.policy, name=SLIDING)).window().record.grounding.tokens
    yield ConversationTooLong, over + sum(unit.tokens(case.chat_format) for unit in case.sendable_units)
