"""What one attempt has received: text and thoughts, as they came."""

from __future__ import annotations

from conversations.services.replies.step_progress import StepProgress

MANY = 1_000


def test_text_and_thoughts_are_kept_apart():
    progress = StepProgress()
    for number in range(MANY):
        progress.add_thought(f"t{number} ")
        progress.add(f"w{number} ")
    assert str(progress.thoughts) == "".join(f"t{number} " for number in range(MANY))
    assert str(progress.text) == "".join(f"w{number} " for number in range(MANY))


def test_text_that_is_taken_back_was_thought():
    progress = StepProgress()
    progress.add_thought("First, ")
    progress.add("the sums.")
    progress.take_back_text()
    assert (str(progress.thoughts), progress.has_begun) == ("First, the sums.", False)
    progress.add("42")
    assert progress.outcome().text == "First, the sums.42"
