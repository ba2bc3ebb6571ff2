from __future__ import annotations

from itertools import pairwise

from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.budget import ChatFormat, LanguageModel
from conversations.core.window.compute_window import Turn, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import SlidingWindow
from conversations.views.conversations.window_bar import PANE_HEIGHT, window_segments

TINY = LanguageModel("tiny", 2_000, 100, "characters", ChatFormat())


def message(position, role, content):
    return HistoryMessage(position, PromptMessage(role, content), len(content))


def record():
    turn = Turn(message(2, "user", "q" * 50), system_prompt="s" * 40, grounding=[PromptPassage("g" * 300, "a source")])
    older = [message(1, "assistant", "a" * 200), message(0, "user", "u" * 100)]
    return compute_window(turn, older, language_model=TINY, policy=SlidingWindow(), count_text=len).record


def test_the_layers_hold_every_token_of_the_prompt():
    segments = window_segments(record())
    assert [segment.part for segment in segments] == ["system", "older", "grounding", "newest"]
    assert sum(segment.tokens for segment in segments) == record().prompt_tokens


def test_the_layers_lie_on_each_other_without_a_gap():
    segments = window_segments(record())
    assert abs(segments[0].y + segments[0].height - PANE_HEIGHT) < 0.1
    for lower, upper in pairwise(segments):
        assert abs(upper.y + upper.height - lower.y) < 0.1
