"""`ConversationError`, the root of the tree of errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from .error_messages import Translate, TranslatePlural, fill_template, in_english, number_in


class ConversationError(Exception):
    """Base of the tree. *params* fill the class's `template`; its `singular` where the param `counted` is one."""

    code: ClassVar[str] = "error"
    template: ClassVar[str] = "Something went wrong on our side. Your text is kept; please try again."

    singular: ClassVar[str] = ""
    counted: ClassVar[str] = ""
    parameter: str = ""  # of the request of a program that it speaks of

    def __init__(self, **params: object) -> None:
        self.params = params
        super().__init__(fill_template(self.template_for(params), params))

    @classmethod
    def template_for(
        cls, params: Mapping[str, object], *, translate: Translate = str, translate_plural: TranslatePlural = in_english
    ) -> str:
        """Return what is to be filled with *params*, translated."""
        if not cls.counted:
            return translate(cls.template)
        return translate_plural(cls.singular, cls.template, number_in(params[cls.counted]))


class SiteBusy(ConversationError):
    """No database connection became free in time."""

    code = "site_busy"
    template = "This site is very busy at the moment. Your text is kept; please try again in a moment."


class DatabaseAway(ConversationError):
    """The database can't be asked now, or not be written to."""

    code = "unavailable"
    template = "The database can’t be reached right now. Nothing is lost. Try again in a moment."
