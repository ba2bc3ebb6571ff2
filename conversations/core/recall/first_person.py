"""First-person words: what people say of themselves is asked for more often than what is said of the world."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W\d_]+")
FIRST_PERSON = frozenset(
    """
    i me my mine myself we us our ours ourselves
    ich mich mir mein meine meinem meinen meiner meines wir uns unser unsere unserem unseren unserer
    """.split()  # noqa: SIM905  # easier to read
)
FIRST_PERSON_CHARACTERS = "我咱"


def count_first_person_words(text: str) -> int:
    words = sum(word in FIRST_PERSON for word in WORD.findall(text.lower()))
    return words if text.isascii() else words + sum(map(text.count, FIRST_PERSON_CHARACTERS))
