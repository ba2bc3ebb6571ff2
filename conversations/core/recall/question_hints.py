"""What a question says of the message that it asks for: who said it, and when."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection
from dataclasses import dataclass

from conversations.core.text.unspaced_scripts import UNSPACED

from .named_times import NamedTime, read_times

ROLES = ("", "user", "assistant")
MOST_DATES = 4
MOST_CHARACTERS = 4_000  # of a question

_BESIDE_VERBS = (
    r"(?:\s(?:already|also|always|earlier|ever|first|had|have|just|kindly|never|once|originally|previously"
    r"|recently)){0,2}"
)
_SAY = r"(?:say|tell|give|write|mention|explain|list|draft|promise|share)"
_SAID = r"(?:said|told|gave|given|wrote|written|mentioned|explained|listed|drafted|promised|shared)"
_GESAGT = (
    r"(?:gesagt|erzählt|geschrieben|erwähnt|erklärt|genannt|gegeben|gemeint"
    r"|versprochen|vorgeschlagen|empfohlen|geraten)"
)
_BEFORE = (
    r"(?:之前|以前|刚才|剛才|刚刚|剛剛|上次|昨天|今天|曾经|曾經|曾|当时|當時|那时|早些时候|在[^，。？！,.?!]{1,16}?)"
)
_TO_YOU = r"(?:[给給跟对對向为為和][你我])"
_SPEAK = r"(?:说|說|建议|建議|提到|提议|推荐|推薦|告诉|告訴|写|寫|给|給|列|解释|解釋|讲|講)"
# What is asked for, "did you say", comes before what is only mentioned, "when I told you".
ASKED_FOR = {
    "assistant": re.compile(
        rf"\b(?:did|had|have)\syou{_BESIDE_VERBS}\s(?:{_SAY}|{_SAID}|suggest|recommend|propose|advise)(?:ed|d)?\b"
        rf"|\bwere\syou\s(?:saying|telling|suggesting|recommending|proposing)\b"
        rf"|\b(?:hast\sdu|(?-i:haben\sSie))(?:\s\w+){{0,6}}?\s{_GESAGT}\b"
        rf"|\b(?:sagtest|schriebst|empfahlst|erwähntest|nanntest|rietst)\sdu\b|\bschlugst\sdu\b",
        re.IGNORECASE,
    ),
    "user": re.compile(
        rf"\b(?:did|had|have)\sI{_BESIDE_VERBS}\s(?:{_SAY}|{_SAID}|ask)(?:ed|d)?\b|\bwas\sI\s(?:saying|telling)\b"
        rf"|\bhabe?\sich(?:\s\w+){{0,6}}?\s(?:{_GESAGT}|gefragt)\b|\b(?:sagte|schrieb|erzählte|erwähnte)\sich\b",
        re.IGNORECASE,
    ),
}
MENTIONED = {
    "assistant": re.compile(
        rf"\byou(?:['’]?(?:ve|d))?{_BESIDE_VERBS}\s(?:{_SAID}|suggested|recommended|proposed|advised)\b"
        r"|\byour(?:\s\w+){0,2}?\s(?:advice|tips?|ideas?|answers?|suggestions?|recommendations?|proposals?|lists?|drafts?)\b"
        rf"|\bdu(?:\s\w+){{0,5}}?\s{_GESAGT}\b"
        r"|\bdeine?[nmrs]?(?:\s\w+){0,2}?\s(?:Rat|Ratschläge?|Tipps?|Ideen?|Antwort(?:en)?|Vorschl[aä]ge?|Empfehlung(?:en)?)\b"
        rf"|(?<![跟对對给給和向为為诉訴])你(?:{_BEFORE}{_TO_YOU}?{_SPEAK}|{_TO_YOU}?{_SPEAK}[过過了的]|{_TO_YOU}?(?:说|說|提到)|建议|建議|推荐|推薦)",
        re.IGNORECASE,
    ),
    "user": re.compile(
        rf"\bI(?:['’]?(?:ve|d))?{_BESIDE_VERBS}\s(?:said|told|mentioned|explained|wrote|(?:gave|asked|sent)\syou)\b"
        rf"|\bich(?:\s(?:habe?|hatte|dir|dich|Ihnen|es|das|schon|bereits|damals|vorhin|gestern)){{0,3}}\s{_GESAGT}\b"
        rf"|(?<![跟对對给給和向为為诉訴])我(?:{_BEFORE}{_TO_YOU}?{_SPEAK}|{_TO_YOU}?{_SPEAK}你?[过過了的])",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class Hints:
    """*speaker* is a role or the name of one, where the question names exactly one; *times* are the named ones."""

    speaker: str | None
    times: tuple[NamedTime, ...]

    def nearness(self, day: dt.date) -> float:
        return max((time.nearness(day) for time in self.times), default=0.0)

    def names(self, role: str, name: str | None) -> bool:
        """Tell whether the speaker of a message is the one that is named."""
        is_role = (name or "").lower() in ROLES  # imports name them "User" and "Assistant"
        return self.speaker is not None and self.speaker == (role if is_role else name)


def read_hints(question: str, *, today: dt.date, names: Collection[str] = ()) -> Hints:
    """Return what *question* says of the message that it asks for; *names* are those of the speakers so far."""
    beginning = " ".join(question[:MOST_CHARACTERS].split())
    return Hints(_speaker(beginning, names), tuple(read_times(beginning, today=today))[:MOST_DATES])


def _speaker(question: str, names: Collection[str]) -> str | None:
    named = [name for name in names if name.lower() not in ROLES and _is_word_of(name, question)]
    if named:
        return named[0] if len(named) == 1 else None
    for speakers in (ASKED_FOR, MENTIONED):
        roles = [role for role, pattern in speakers.items() if pattern.search(question)]
        if roles:
            return roles[0] if len(roles) == 1 else None
    return None


def _is_word_of(name: str, question: str) -> bool:
    """Tell whether a person's name, or their first name, stands in *question*."""
    first = name.split()[0]
    edge = "" if re.match(rf"[{UNSPACED}]", first) else r"\b"
    return re.search(f"{edge}{re.escape(first)}{edge}", question, re.IGNORECASE) is not None
