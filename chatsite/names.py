"""Names that people give, from a conversation's title to a user's own: how they are stored, and stand in sentences.

Stored is what can be seen of a name, on one line. In a sentence a name that runs from right to left is isolated
(Unicode Standard Annex 9), so that it changes the order of no word around it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.expressions import Combinable
from django.utils.translation import get_language_bidi
from django.utils.translation import gettext_lazy as _

FIRST_STRONG_ISOLATE, POP_DIRECTIONAL_ISOLATE = "\u2068", "\u2069"
# Embeddings, overrides and isolates: what begins in a name may not end in it, and the other way round.
BIDI_CONTROLS = "\u202a-\u202e\u2066-\u2069"
# Controls, surrogates, noncharacters, and those without a shape (Default_Ignorable_Code_Point) that no word needs.
# Where people decide by what they read (tools, results of the web), the stricter rule of
# `conversations/core/text/invisible_characters.py` holds, which keeps no joiners either.
INVISIBLE_CHARACTERS = (
    f"{BIDI_CONTROLS}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u115f\u1160\u17b4\u17b5\u200b\u2060-\u2065\u206a-\u206f"
    "\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# A flag keeps its tags.
REMOVED = re.compile(f"(?P<flag>\U0001f3f4[\U000e0030-\U000e007a]{{3,6}}\U000e007f)|[{INVISIBLE_CHARACTERS}]")
BLANK = "\u2800"  # of Braille
# Without a shape of their own, too, but spelling needs them: one behind a character, and no run of them.
VARIATIONS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"  # emoji, and characters of Japanese names
JOINERS = "\u034f\u180e\u200c\u200d"  # Persian and Indic words, and emoji of several parts
MARKS = "\u061c\u200e\u200f"  # a direction for what has none, such as the signs in a Hebrew name
SPELLING_CHARACTERS = re.compile(f"[{VARIATIONS}{JOINERS}{MARKS}]+")
ONE_VARIATION, ONE_JOINER, ONE_MARK = (re.compile(f"[{each}]") for each in (VARIATIONS, JOINERS, MARKS))
VISIBLE_CATEGORIES = ("L", "N", "P", "S", "Co", "Cn")  # of Unicode; the last ones are shown as a box at least
ENDS_ISOLATES = re.compile("[\x00-\x1f\x7f-\x9f\u2029]")  # what ends a paragraph ends all isolates in it
RIGHT_TO_LEFT = {"R", "AL", "AN"}
NAME_IS_INVISIBLE = _("A name needs at least one character that can be seen.")


def clean_name(raw: str, *, most_characters: int | None = None) -> str:
    """Return *raw* as a name is stored: on one line, without what can't be seen. Blank if nothing can."""
    words = map(_clean_word, REMOVED.sub(_keep_flag, raw.replace(BLANK, " ")).split())
    name = " ".join(filter(None, words))
    if most_characters is not None and len(name) > most_characters:
        return clean_name(name[:most_characters])
    return name if any(unicodedata.category(each).startswith(VISIBLE_CATEGORIES) for each in name) else ""


def isolate_name(name: object) -> str:
    """Return *name* as it stands in a sentence of plain text.

    In a page from left to right, a name without letters of the other direction needs nothing around it.
    """
    text = str(name)
    if not (text.isascii() and text.isprintable()):
        text = re.sub(f"[{BIDI_CONTROLS}]", "", ENDS_ISOLATES.sub(" ", text))
    if not text or not (get_language_bidi() or _has_right_to_left(text)):
        return text
    return f"{FIRST_STRONG_ISOLATE}{text}{POP_DIRECTIONAL_ISOLATE}"


def _keep_flag(found: re.Match[str]) -> str:
    return found["flag"] or ""


def _clean_word(word: str) -> str:
    """Return *word* without what joins nothing: at its beginning, at its end, or the second of a run."""
    thinned = SPELLING_CHARACTERS.sub(_thin, word)
    return "" if SPELLING_CHARACTERS.fullmatch(thinned) else thinned


def _thin(found: re.Match[str]) -> str:
    """Return at most a variation, a joiner and a mark of the characters that stand here."""
    run = found[0]
    is_first, is_last = found.start() == 0, found.end() == len(found.string)
    variation = "" if is_first else ONE_VARIATION.match(run)
    joiner = "" if is_first or is_last else ONE_JOINER.search(run)
    return "".join(each[0] for each in (variation, joiner, ONE_MARK.search(run)) if each)


def _has_right_to_left(text: str) -> bool:
    return not text.isascii() and any(unicodedata.bidirectional(each) in RIGHT_TO_LEFT for each in text)


def _clean_typed(typed: str) -> str:
    """Return *typed* as it is stored. Raises a `ValidationError` if nothing of it can be seen."""
    name = clean_name(typed)
    if typed.strip() and not name:
        raise ValidationError(NAME_IS_INVISIBLE, code="invisible")
    return name


class NameInput(forms.CharField):
    """A name in a form."""

    def to_python(self, value: Any) -> Any:
        typed = super().to_python(value)
        return _clean_typed(typed) if typed else typed


if TYPE_CHECKING:
    CharField = models.CharField[str | Combinable, str]
else:
    CharField = models.CharField


class NameField(CharField):
    """A column of names: cleaned when they are stored, and refused by forms if nothing of them can be seen."""

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": NameInput, **kwargs})

    def to_python(self, value: Any) -> Any:
        """Clean what `update` stores and what queries look for, too: they ask no instance."""
        value = super().to_python(value)
        return clean_name(value) if isinstance(value, str) else value

    def clean(self, value: Any, model_instance: models.Model | None) -> Any:
        return super().clean(_clean_typed(value) if isinstance(value, str) else value, model_instance)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = super().pre_save(model_instance, add)
        if isinstance(value, str):
            value = clean_name(value)
            setattr(model_instance, self.attname, value)
        return value

    def deconstruct(self) -> Any:
        """To the database it is a column like any other."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs
