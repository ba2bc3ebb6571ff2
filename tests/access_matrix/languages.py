"""Languages that pages are asked in: Simplified Chinese, and one in which each sentence is a single letter."""

from __future__ import annotations

from contextlib import nullcontext

from tests.support.one_letter_language import one_letter_language

LANGUAGES = {"zh-hans": nullcontext, "one letter": one_letter_language}
