"""What every refusal promises: whose fault it is, and by how many tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conversations.core.errors import (
    AboutMeTooLong,
    ConversationTooLong,
    MessageTooLong,
    MessageTooLongForScenario,
    NotesTooLong,
    PicturesTooLong,
    PinsTooLong,
    PromptError,
    SystemPromptTooLong,
    ToolSchemasTooLong,
    ToolStepsTooLong,
)
from conversations.core.prompt.system_text import SystemTexts

from .cases import Case
from .step_promises import least_steps_tokens


def the_refusal_says_whose_fault_it_is_and_by_how_much(case: Case, error: PromptError) -> None:
    expected = next((culprit, over) for culprit, over in _tokens_over(case) if over > 0)
    assert (type(error), error.tokens_over) == expected


def that_the_message_alone_would_fit_is_true(case: Case, error: PromptError) -> None:
    """So the scenario is named if and only if the message could be sent without it, its pins and its tools."""
    if isinstance(error, MessageTooLong) and not isinstance(error, PicturesTooLong):
        bare = replace(case, units=(), system_prompt="", about_me="", notes="")
        bare = replace(bare, tool_schema_tokens=0, passages=(), steps=())
        assert (type(error) is MessageTooLongForScenario) == _is_sent(bare)


def _is_sent(case: Case) -> bool:
    try:
        return bool(case.window())
    except PromptError:
        return False


def _tokens_over(case: Case) -> Iterator[tuple[type[PromptError], int]]:
    """Yield by how many tokens each part is too long, in the order in which they are asked to fit."""
    overhead_tokens = case.chat_format.overhead_tokens
    over = case.chat_format.priming_tokens + overhead_tokens + 1 - case.budget_tokens
    yield PromptError, over
    texts = case.turn.system_texts
    without_notes = _tokens_of(case, *texts[:2])
    over += _tokens_of(case, texts.system_prompt)
    yield SystemPromptTooLong, over
    over += case.tool_schema_tokens
    yield ToolSchemasTooLong, over
    over += without_notes - _tokens_of(case, texts.system_prompt)
    yield AboutMeTooLong, over
    over += _tokens_of(case, *texts) - without_notes
    yield NotesTooLong, over
    over += sum(pin.tokens(case.chat_format) for pin in case.pins)
    yield PinsTooLong, over
    over += case.newest.sent_tokens - 1
    yield _message_error(case, over), max(over, _over_its_cap(case))
    over += least_steps_tokens(case)
    yield ToolStepsTooLong, over
    yield ConversationTooLong, over + sum(unit.tokens(case.chat_format) for unit in case.sendable_units)


def _tokens_of(case: Case, *texts: str) -> int:
    """Return what the system message takes with only these of its texts."""
    text = SystemTexts(*texts).render()
    return case.chat_format.overhead_tokens + case.count_text(text) if text else 0


def _message_error(case: Case, over: int) -> type[MessageTooLong]:
    if case.newest.message.pictures and _over_its_cap(case) <= 0 and over <= case.newest.picture_tokens:
        return PicturesTooLong
    alone_tokens = case.chat_format.priming_tokens + case.newest.tokens(case.chat_format)
    alone = alone_tokens > case.budget_tokens or _over_its_cap(case) > 0
    return MessageTooLong if alone else MessageTooLongForScenario


def _over_its_cap(case: Case) -> int:
    cap_tokens = case.policy.message_cap_tokens
    return 0 if cap_tokens is None else case.newest.content_tokens - cap_tokens


PROMISES = (the_refusal_says_whose_fault_it_is_and_by_how_much, that_the_message_alone_would_fit_is_true)
