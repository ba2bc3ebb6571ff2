"""How a window is chosen, as a scenario sets it."""

from __future__ import annotations

from dataclasses import dataclass

SLIDING = "sliding"
LAST_N_MESSAGES = "last-n-messages"
FULL = "full"
POLICY_NAMES = (SLIDING, LAST_N_MESSAGES, FULL)


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits are tokens; None means that the language model's own limit holds.

    `sliding` takes the newest messages that fit, `last-n-messages` at most *last_messages* of them (the newest user
    message counts as one), `full` refuses rather than drops. *grounding_share* is the largest part of the budget that
    grounding may take.
    """

    name: str = SLIDING
    last_messages: int = 20
    cap_tokens: int | None = None
    message_cap_tokens: int | None = None
    grounding_share: float = 0.5
    skip_oversized: bool = False

    def __post_init__(self) -> None:
        if self.name not in POLICY_NAMES:
            raise ValueError(f"unknown window policy {self.name!r}; known are {', '.join(POLICY_NAMES)}")
        if not 0 <= self.grounding_share <= 1:
            raise ValueError(f"grounding_share must be from 0 to 1, got {self.grounding_share}")
        if self.last_messages < 1:
            raise ValueError("last_messages must be at least 1: the newest message is always sent")
        for limit in ("cap_tokens", "message_cap_tokens"):
            if (tokens := getattr(self, limit)) is not None and tokens < 1:
                raise ValueError(f"{limit} must be at least 1, or None for no limit of its own; got {tokens}")
