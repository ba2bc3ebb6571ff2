"""What the summary in every window promises."""

from __future__ import annotations

from dataclasses import replace

from conversations.core.prompt.summary_text import SUMMARY_HEADER
from conversations.core.window.compute_window import Window

from .cases import Case
from .older_promises import older_positions


def it_is_sent_as_it_is_stored_or_not_at_all(case: Case, window: Window) -> None:
    """Counted as it is rendered, once, between the pins and the older messages."""
    record = window.record.summary
    sent = [message for message in window.prompt if message.content.startswith(SUMMARY_HEADER)]
    entries = [entry for entry in window.record.entries if entry.kind == "summary"]
    if record is None or not record.tokens:
        assert (sent, entries, window.record.parts["summary"]) == ([], [], 0)
        return
    assert sent == [case.summary.message]
    assert [entry.tokens for entry in entries] == [record.tokens]
    assert (record.id, record.version) == (case.summary.id, case.summary.version)
    assert record.covers_before == case.summary.covers_before
    assert window.prompt.index(sent[0]) == any(case.turn.system_texts) + len(case.pins)


def it_keeps_to_its_cap_and_to_half_of_the_room(case: Case, window: Window) -> None:
    tokens = window.record.parts["summary"]
    assert tokens <= case.policy.summary_limit_tokens
    assert 2 * tokens <= max(case.lasting_tokens, 0)


def it_is_left_out_for_the_reason_that_is_recorded(case: Case, window: Window) -> None:
    record = window.record.summary
    if case.summary is None or not case.policy.summary_limit_tokens:
        assert record is None
        return
    tokens = case.chat_format.overhead_tokens + case.summary.content_tokens
    assert (record.left_out == "") == (record.tokens == tokens)
    assert (record.left_out == "above_cap") == (tokens > case.policy.summary_cap_tokens)
    if record.left_out == "all_in_view":
        assert window.record.first_position == 0
    if record.tokens:
        assert window.record.first_position > 0


def without_it_nothing_else_would_be_refused(case: Case, window: Window) -> None:
    """So no summary is ever the reason why a message can't be sent, and none moves another part than the older ones."""
    without = replace(case, summary=None).window()
    assert without.record.parts["newest"] == window.record.parts["newest"]
    assert without.record.parts["pins"] == window.record.parts["pins"]
    if not window.record.parts["summary"] and window.record.summary is None:
        assert older_positions(without) == older_positions(window)


PROMISES = (
    it_is_sent_as_it_is_stored_or_not_at_all,
    it_keeps_to_its_cap_and_to_half_of_the_room,
    it_is_left_out_for_the_reason_that_is_recorded,
    without_it_nothing_else_would_be_refused,
)
