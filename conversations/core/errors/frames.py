"""The browser sent nonsense."""

from __future__ import annotations

from .base import ConversationError


class FrameError(ConversationError):
    """*detail* names the field that is wrong."""

    code = "frame_invalid"
    template = "The page sent something that the server does not understand. Reload the page."

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        super().__init__()
