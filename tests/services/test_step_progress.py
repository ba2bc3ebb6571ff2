"""What one attempt has received: its pieces are kept in few strings, at a cost in proportion to the text."""

from __future__ import annotations

import pytest

from conversations.services.replies.step_progress import FEWEST_JOINED, StepProgress, append_piece

MANY = 100_000


def test_text_and_thoughts_that_come_in_many_pieces_are_kept_in_few():
    progress = StepProgress()
    for number in range(MANY):
        progress.add_thought(f"t{number} ")
        progress.add(f"w{number} ")
    assert "".join(progress.thoughts) == "".join(f"t{number} " for number in range(MANY))
    assert "".join(progress.pieces) == "".join(f"w{number} " for number in range(MANY))
    assert len(progress.thoughts) < MANY / 10
    assert len(progress.pieces) < MANY / 10


@pytest.mark.parametrize("text", ["a", "four", "a longer piece of text"])
def test_what_is_copied_grows_with_the_text(text):
    pieces, copied = [], 0
    for _ in range(MANY):
        append_piece(pieces, text)
        copied += len(pieces[0]) if len(pieces) == 1 else 0
    assert copied <= 2 * FEWEST_JOINED * MANY * len(text)
    assert copied <= 2 * FEWEST_JOINED * MANY  # per piece
