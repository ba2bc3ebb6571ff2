"""Windows by example: computed in one line, and read in one."""

from conversations.core.window.compute_window import Turn, compute_window
from conversations.core.window.policies import SlidingWindow

from .languages import by_character, language_model, message

SLIDING = SlidingWindow(grounding_share=1.0, low_water_share=1)


def window(newest, older=(), *, budget_tokens=100, policy=SLIDING, chat_format=None, anchor=None, **turn):
    """Compute a window; *older* is oldest first, and a token is a character unless *chat_format* adds some."""
    fields = {"chat_format": chat_format} if chat_format else {}
    return compute_window(
        Turn(newest, **turn),
        reversed(older) if isinstance(older, list | tuple) else older,
        language_model=language_model(budget_tokens + 20, reply_reserve_tokens=20, **fields),
        policy=policy,
        count_text=by_character,
        anchor=anchor,
    )


def contents(chosen):
    return [sent.content for sent in chosen.prompt]


def reasons(chosen):
    return {left.position: left.reason for left in chosen.record.left_out}


def exchange(count, *, length=10):
    """Return *count* messages of *length* tokens that begin with their position."""
    return [message(position, f"{position}".ljust(length, ".")) for position in range(count)]
