"""The root of the tree."""

from __future__ import annotations

from typing import ClassVar

from conversations.core.filling import fill


class ConversationError(Exception):
    """Base of the tree. *params* fill the class's `template`."""

    code: ClassVar[str] = "error"
    template: ClassVar[str] = "Something went wrong on our side. Your text is kept; please try again."

    def __init__(self, **params: object) -> None:
        self.params = params
        super().__init__(fill(self.template, params))
