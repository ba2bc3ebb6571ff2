"""What the grounding of every window promises."""

from __future__ import annotations

from conversations.core.prompt.grounding_text import RECALL_HEADER, render_passage, render_question
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.compute_window import Window
from conversations.core.window.truncation import TRUNCATION_MARK

from .cases import MARKER, Case
from .step_promises import kept_steps


def question(case: Case, window: Window) -> PromptMessage:
    """Return the newest user message as it is sent."""
    return window.prompt[-1 - len(kept_steps(case))]


def grounding_keeps_to_its_share(case: Case, window: Window) -> None:
    grounding, newest = window.record.grounding, window.record.entries[-1 - len(kept_steps(case))]
    assert 0 <= grounding.tokens <= grounding.limit_tokens
    assert grounding.limit_tokens <= case.budget_tokens * case.policy.grounding_share
    assert grounding.tokens == newest.tokens - case.newest.tokens(case.chat_format) - window.record.recall.tokens


def it_may_take_all_of_its_share_that_is_left(case: Case, window: Window) -> None:
    """The policy `full` puts older messages first; for the others, they get what grounding leaves."""
    record = window.record
    comes_later = 0 if case.policy.refuses_to_drop else record.parts["older"]
    left_tokens = record.parts["free"] + comes_later + record.recall.tokens + record.grounding.tokens
    left_tokens -= case.unused_summary_tokens(window)
    share_tokens = int(round(case.policy.grounding_share * 100) * case.budget_tokens / 100)
    assert record.grounding.limit_tokens == min(left_tokens, share_tokens)


def it_is_whole_passages_by_rank_of_which_only_the_last_is_cut(case: Case, window: Window) -> None:
    grounding, content = window.record.grounding, question(case, window).content
    passages = grounding.included + grounding.left_out
    assert [passage.number for passage in passages] == list(range(1, len(case.passages) + 1))
    assert all(passage.truncated_to is None for passage in (*grounding.included[:-1], *grounding.left_out))
    for seen, passage in zip(passages, case.passages, strict=True):
        is_whole = render_passage(seen.number, passage) in content
        assert is_whole == (seen in grounding.included and seen.truncated_to is None)


def a_cut_passage_is_marked_where_it_was_cut(case: Case, window: Window) -> None:
    included, content = window.record.grounding.included, question(case, window).content.partition(RECALL_HEADER)[0]
    cuts = [passage for passage in included if passage.truncated_to is not None]
    assert content.count(TRUNCATION_MARK) == len(cuts)
    for passage in cuts:
        beginning = content[content.rindex(MARKER, 0, content.index(TRUNCATION_MARK)) : content.index(TRUNCATION_MARK)]
        assert beginning.rstrip() == case.passages[passage.number - 1].text[: passage.truncated_to].rstrip()


def no_more_grounding_would_fit(case: Case, window: Window) -> None:
    whole = [passage for passage in window.record.grounding.included if passage.truncated_to is None]
    if len(whole) == len(case.passages):
        return
    content, more = case.newest.message.content, case.passages[: len(whole) + 1]
    text = render_question(content, more, left_out=len(case.passages) - len(more))
    assert case.count_text(text) - case.count_text(content) > window.record.grounding.limit_tokens


PROMISES = (
    grounding_keeps_to_its_share,
    it_may_take_all_of_its_share_that_is_left,
    it_is_whole_passages_by_rank_of_which_only_the_last_is_cut,
    a_cut_passage_is_marked_where_it_was_cut,
    no_more_grounding_would_fit,
)
