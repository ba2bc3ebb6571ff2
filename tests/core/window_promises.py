"""What every window promises, each promise checked from the case alone."""

from __future__ import annotations

import json

from conversations.core.prompt.system_text import split_system_text
from conversations.core.window.budget import message_tokens
from conversations.core.window.compute_window import Window
from conversations.core.window.window_record import WindowRecord

from . import grounding_promises, older_promises, recall_promises, step_promises, summary_promises
from .cases import PICTURES, Case
from .grounding_promises import question
from .older_promises import older_positions
from .step_promises import kept_steps

KINDS = ("system", "about_me", "notes", "pin", "summary", "older", "newest", "tool_step")


def never_over_budget(case: Case, window: Window) -> None:
    record = window.record
    assert record.prompt_tokens <= record.budget_tokens == case.budget_tokens
    assert record.budget_tokens * case.calibration + record.reply_reserve_tokens <= record.context_window_tokens


def the_reply_has_the_room_that_was_reserved(case: Case, window: Window) -> None:
    own, language_models = case.policy.reply_reserve_tokens, case.language_model.reply_reserve_tokens
    assert window.record.reply_reserve_tokens == (language_models if own is None else own)


def the_prompt_as_rendered_counts_what_the_record_says(case: Case, window: Window) -> None:
    rendered = [
        message_tokens(message, count_text=case.count_text, chat_format=case.chat_format, pictures=PICTURES)
        for message in window.prompt
    ]
    record = window.record
    assert rendered == [entry.tokens for entry in record.message_entries]
    assert [message.role for message in window.prompt] == [entry.role for entry in record.message_entries]
    assert sum(rendered) == sum(entry.tokens for entry in record.entries)
    assert record.prompt_tokens == case.chat_format.priming_tokens + case.tool_schema_tokens + sum(rendered)


def the_parts_are_the_budget(case: Case, window: Window) -> None:
    parts = window.record.parts
    assert sum(parts.values()) == case.budget_tokens
    assert min(parts.values()) >= 0
    assert parts["newest"] == case.newest.tokens(case.chat_format)
    assert parts["free"] == case.budget_tokens - window.record.prompt_tokens


def the_newest_message_is_whole(case: Case, window: Window) -> None:
    newest = question(case, window)
    assert newest.role == "user"
    assert newest.content.endswith(case.newest.message.content)
    assert window.record.entries[-1 - len(kept_steps(case))].message == case.newest.id


def the_order_is_most_stable_first(case: Case, window: Window) -> None:
    entries = window.record.entries
    kinds = [entry.kind for entry in entries]
    assert kinds == sorted(kinds, key=KINDS.index)
    for kind, text in (("system", case.system_prompt), ("about_me", case.about_me), ("notes", case.notes)):
        assert kinds.count(kind) == bool(text)
    assert kinds.count("newest") == 1
    assert [entry.position for entry in entries if entry.kind == "pin"] == [pin.position for pin in case.pins]
    assert older_positions(window) == sorted(set(older_positions(window)))


def what_is_stored_is_sent_word_for_word(case: Case, window: Window) -> None:
    """So neither a grounding of long ago nor anything else can have been added to an older message."""
    for message, entry in zip(window.prompt, window.record.message_entries, strict=True):
        if entry.kind == "system":
            has = {"has_about_me": bool(case.about_me), "has_notes": bool(case.notes)}
            texts = (case.system_prompt, case.about_me.rstrip(), case.notes.rstrip())
            assert split_system_text(message.content, **has) == texts
        elif entry.kind in ("pin", "older"):
            assert message == case.stored[entry.position].message
            assert entry.message == case.stored[entry.position].id
            assert entry.truncated_to is None


def a_tool_result_follows_its_call(case: Case, window: Window) -> None:
    awaited: list[str] = []
    for message in window.prompt:
        if message.role == "tool":
            assert message.tool_call_id == awaited.pop(0)
        else:
            assert not awaited
            awaited = [call.id for call in message.tool_calls]
    assert not awaited


def the_record_survives_storage(case: Case, window: Window) -> None:
    assert WindowRecord.from_json(json.loads(json.dumps(window.record.to_json()))) == window.record


def pictures_go_with_their_message_and_with_no_other(case: Case, window: Window) -> None:
    record = window.record
    stored = {**case.stored, case.newest.position: case.newest}
    assert record.picture_tokens == sum(entry.picture_tokens for entry in record.entries)
    for message, entry in zip(window.prompt, record.message_entries, strict=True):
        kept = stored.get(entry.position)
        if kept is None or entry.kind == "tool_step":
            assert (message.pictures, entry.picture_tokens, entry.pictures) == ((), 0, "")
        else:
            assert message.pictures == kept.message.pictures
            assert (entry.picture_tokens, entry.pictures) == (kept.picture_tokens, kept.pictures_sent)
            assert 0 <= entry.picture_tokens <= entry.tokens


PROMISES = (
    never_over_budget,
    the_reply_has_the_room_that_was_reserved,
    the_prompt_as_rendered_counts_what_the_record_says,
    the_parts_are_the_budget,
    the_newest_message_is_whole,
    the_order_is_most_stable_first,
    what_is_stored_is_sent_word_for_word,
    a_tool_result_follows_its_call,
    the_record_survives_storage,
    pictures_go_with_their_message_and_with_no_other,
    *older_promises.PROMISES,
    *grounding_promises.PROMISES,
    *recall_promises.PROMISES,
    *step_promises.PROMISES,
    *summary_promises.PROMISES,
)
