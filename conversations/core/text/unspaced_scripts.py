"""Scripts that put no spaces between words, as a class of characters for regular expressions."""

from __future__ import annotations

# Han with its extensions, Hiragana, Katakana, Bopomofo and Hangul.
UNSPACED = (
    "\u3005-\u3007\u3040-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
