"""What every window promises of the tool calls of its own turn."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from conversations.core.window.budget import content_tokens
from conversations.core.window.compute_window import Window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.tool_steps import truncate_step
from conversations.core.window.truncation import TRUNCATION_MARK, truncate_text
from conversations.core.window.window_record import WindowEntry

from .cases import Case

SHARE_OF_RESULTS = Fraction(3, 4)


def smallest_tokens(case: Case, message: HistoryMessage) -> int:
    """Return the content's tokens when no more than the mark is sent of a result."""
    if message.message.role != "tool":
        return message.content_tokens
    marked = message.message._replace(content=TRUNCATION_MARK)
    marked_tokens = content_tokens(marked, count_text=case.count_text, chat_format=case.chat_format)
    return min(message.content_tokens, marked_tokens)


def smallest_steps_tokens(case: Case, steps: Sequence[HistoryMessage]) -> int:
    overhead_tokens = len(steps) * case.chat_format.overhead_tokens
    return overhead_tokens + sum(smallest_tokens(case, step) for step in steps)


def kept_steps(case: Case) -> tuple[HistoryMessage, ...]:
    """Return the steps without the oldest ones: the others' calls and marks take half of what is left, or are one."""
    steps = case.steps
    while (later := without_the_oldest(steps)) and 2 * smallest_steps_tokens(case, steps) > room_for_steps(case):
        steps = later
    return steps


def least_steps_tokens(case: Case) -> int:
    """Return what the kept steps take before results are given more, with arguments truncated where they have to be."""
    steps = kept_steps(case)
    whole_tokens = smallest_steps_tokens(case, steps)
    if whole_tokens <= room_for_steps(case):
        return whole_tokens
    lengths = range(max(len(call.arguments) for call in steps[0].message.tool_calls))
    truncated_tokens = partial(_truncated_steps_tokens, case, steps)
    fitting = bisect_right(lengths, room_for_steps(case) // 2, key=truncated_tokens)
    return truncated_tokens(max(fitting - 1, 0))


def _truncated_steps_tokens(case: Case, steps: Sequence[HistoryMessage], characters: int) -> int:
    calls, *results = steps
    truncated = truncate_step(calls.message, characters)
    tokens = content_tokens(truncated, count_text=case.count_text, chat_format=case.chat_format)
    return smallest_steps_tokens(case, [calls._replace(message=truncated, content_tokens=tokens), *results])


def room_for_steps(case: Case) -> int:
    return case.lasting_tokens - case.newest.tokens(case.chat_format)


def without_the_oldest(steps: tuple[HistoryMessage, ...]) -> tuple[HistoryMessage, ...]:
    calls = [place for place, step in enumerate(steps) if step.message.tool_calls]
    return steps[calls[1] :] if len(calls) > 1 else ()


def steps_as_sent(case: Case, window: Window) -> Iterator[tuple[HistoryMessage, WindowEntry]]:
    """Yield each step as it is stored, with its entry in the record."""
    entries = [entry for entry in window.record.entries if entry.kind == "tool_step"]
    yield from zip(kept_steps(case), entries, strict=True)


def the_oldest_steps_are_left_out_and_named_and_no_others(case: Case, window: Window) -> None:
    lost = case.steps[: len(case.steps) - len(kept_steps(case))]
    named = [(out.position, out.reason) for out in window.record.left_out if out.position > case.newest.position]
    assert named == [(step.position, "does_not_fit") for step in reversed(lost)]
    assert window.record.lost_steps == bool(lost)


def all_kept_steps_follow_the_newest_message_in_order(case: Case, window: Window) -> None:
    sent = window.prompt[len(window.prompt) - len(kept_steps(case)) :]
    for (step, entry), message in zip(steps_as_sent(case, window), sent, strict=True):
        assert (entry.message, entry.position) == (step.id, step.position)
        assert message == truncate_step(step.message, entry.truncated_to)


def calls_are_cut_only_where_they_do_not_fit_and_are_json(case: Case, window: Window) -> None:
    sent = window.prompt[len(window.prompt) - len(kept_steps(case)) :]
    does_not_fit = smallest_steps_tokens(case, kept_steps(case)) > room_for_steps(case)
    for (step, entry), message in zip(steps_as_sent(case, window), sent, strict=True):
        if step.message.role != "tool":
            assert (entry.truncated_to is not None) == does_not_fit
            changed = [
                call.arguments
                for call, stored in zip(message.tool_calls, step.message.tool_calls, strict=True)
                if call != stored
            ]
            assert bool(changed) == does_not_fit
            assert all(json.loads(arguments)["truncated"].endswith(TRUNCATION_MARK) for arguments in changed)


def only_results_are_cut_and_marked(case: Case, window: Window) -> None:
    for step, entry in steps_as_sent(case, window):
        if entry.truncated_to is not None and step.message.role == "tool":
            assert 0 <= entry.truncated_to < len(step.message.content)
            assert truncate_text(step.message.content, entry.truncated_to).endswith(TRUNCATION_MARK)


def _level(wanted: list[int], room_tokens: int) -> int:
    """Return how far the room fills up if all that is wanted is poured into it side by side."""
    levels = range(min(0, room_tokens), max(wanted, default=0) + 1)
    poured = partial(_poured, wanted)
    return levels[bisect_right(levels, room_tokens, key=poured) - 1]


def _poured(wanted: list[int], level: int) -> int:
    return sum(min(tokens, level) for tokens in wanted)


def results_are_cut_only_where_needed_the_largest_first(case: Case, window: Window) -> None:
    parts = window.record.parts
    goes_before = ("system", "tools", "notes", "pins", "summary", "newest")
    goes_before += ("older",) if case.policy.refuses_to_drop else ()
    fixed_tokens = sum(parts[part] for part in goes_before) + case.unused_summary_tokens(window)
    kept = kept_steps(case)
    at_smallest = sum(
        entry.tokens if step.message.role != "tool" else case.chat_format.overhead_tokens + smallest_tokens(case, step)
        for step, entry in steps_as_sent(case, window)
    )
    room = int((case.budget_tokens - fixed_tokens - at_smallest) * SHARE_OF_RESULTS)
    level = _level([step.content_tokens - smallest_tokens(case, step) for step in kept], room)
    for step, entry in steps_as_sent(case, window):
        if step.message.role != "tool":
            continue
        smallest = smallest_tokens(case, step)
        wanted = step.content_tokens - smallest
        if wanted <= level:
            assert entry.truncated_to is None
        elif entry.truncated_to is None:
            assert wanted == level + 1
        else:
            assert entry.tokens - case.chat_format.overhead_tokens <= smallest + level + 1
            assert _cut_one_later(case, step, entry) > smallest + level


def _cut_one_later(case: Case, step: HistoryMessage, entry: WindowEntry) -> int:
    content = truncate_text(step.message.content, entry.truncated_to + 1)
    message = step.message._replace(content=content)
    return content_tokens(message, count_text=case.count_text, chat_format=case.chat_format)


PROMISES = (
    the_oldest_steps_are_left_out_and_named_and_no_others,
    all_kept_steps_follow_the_newest_message_in_order,
    calls_are_cut_only_where_they_do_not_fit_and_are_json,
    only_results_are_cut_and_marked,
    results_are_cut_only_where_needed_the_largest_first,
)
