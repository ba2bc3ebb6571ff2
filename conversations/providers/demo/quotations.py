"""Quotations of the demo model: the sentence that fits a question, and answers that quote and cite passages.

Sentences are matched by the words that they share with the question. A word counts by its stem, so that "live" finds
"living"; Chinese is compared in pairs of characters. A broad question, which asks for all there is of something, is
answered by a list of passages; any other by the best one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .demo_prompt import DemoPrompt, Sentence, SentPassage, split_sentences

GOOD_COVERAGE = 0.6
LONGEST_QUOTE_CHARACTERS = 300
MOST_OTHERS = 2  # passages that fit as well as the quoted one

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")
_HAN_FILLERS = re.compile(
    r"什么时候|什么|为什么|怎么样|怎么|哪里|哪儿|哪个|多少|多长|多久|多大|多远|我说过|说过|告诉|关于|记得|我的|你的|[我你您的是了吗呢谁几有在过]"
)
_FILLERS = frozenset(
    """
    a about all am an and any are as at be been but by can could did do does for from had has have he her him his
    how i i'm if in into is it it's its know me mention mentioned my of on or our please remember remind said say
    she should so tell that the their them then there they thing this to told us was we were what what's when where
    which who whom whose why will with would you your
    """.split()  # noqa: SIM905 - a hundred quoted words are no easier to read
)


@dataclass(frozen=True, slots=True)
class Match:
    """The best sentence, and which part of the question's words it has."""

    sentence: Sentence
    coverage: float

    @property
    def is_good(self) -> bool:
        return self.coverage >= GOOD_COVERAGE


def best_match(question: str, sentences: Iterable[Sentence]) -> Match | None:
    """Return the first of the sentences that share most words with *question*; other questions do not answer one."""
    wanted = keywords(question)
    if not wanted:
        return None
    best: Match | None = None
    for sentence in sentences:
        coverage = len(wanted & keywords(sentence.text)) / len(wanted)
        if coverage and not sentence.is_question and (best is None or coverage > best.coverage):
            best = Match(sentence, coverage)
    return best


def keywords(text: str) -> frozenset[str]:
    """Return the stems and character pairs of *text* that mean something."""
    words = (word.lower().replace("’", "'") for word in _WORD.findall(_HAN_RUN.sub(" ", text)))
    stems = {_stem(word) for word in words if word not in _FILLERS}
    runs = [run for part in _HAN_RUN.findall(text) for run in _HAN_FILLERS.split(part) if run]
    pairs = {run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1))}
    return frozenset(stems | pairs)


def _stem(word: str) -> str:
    word = word.removesuffix("'s").replace("our", "or")  # colour, favourite
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word


# Gaps are bounded: an open one takes minutes on a text that repeats its first word.
_ASKS_FOR_ALL = re.compile(
    r"\b(?:what|which|list|show|find|all|any|every)\b.{0,60}?\b(?:talks|sessions|lectures|workshops|events|passages"
    r"|documents|entries|items|ones)\b|\b(?:list|every|all) \b|哪些|哪几|所有|列出|全部",
    re.IGNORECASE,
)
# Words for what is looked for, which say nothing of what it is about.
_KINDS = keywords(
    "talk talks session sessions lecture lectures event events passage passages document documents entry entries item "
    "items one ones anything something list show find all every some more other 演讲 讲座 会议 文档 段落 内容"
)
_CITATION_IN_QUOTE = re.compile(r"\s?\[[\d,; ]{1,20}\]")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that has *coverage*, 0 to 1, of what a question is about, and *in_title* of it in its title."""

    passage: SentPassage
    coverage: float
    in_title: float


def answer_from_passages(prompt: DemoPrompt) -> str | None:
    """Return what the passages say to the question of *prompt*, or None where none of them fits well."""
    hits = _hits(prompt)
    if not hits:
        return None
    if _ASKS_FOR_ALL.search(prompt.question):
        return _list(prompt, hits)
    return _best(prompt, hits)


def suspect_left_out(prompt: DemoPrompt) -> str | None:
    """Say that the answer may be in passages that did not fit; None if all did."""
    if not prompt.left_out:
        return None
    return _phrase(prompt, "not_in_sent", left_out=prompt.left_out, sent=len(prompt.passages))


def _hits(prompt: DemoPrompt) -> list[Hit]:
    """Return the passages that fit, best first."""
    wanted = keywords(prompt.question)
    wanted = (wanted - _KINDS) or wanted
    hits = [_hit(passage, wanted) for passage in prompt.passages] if wanted else []
    fitting = [hit for hit in hits if hit.coverage >= GOOD_COVERAGE]
    return sorted(fitting, key=lambda hit: (-hit.in_title - hit.coverage, hit.passage.number))


def _hit(passage: SentPassage, wanted: frozenset[str]) -> Hit:
    in_title = wanted & keywords(passage.title)
    found = in_title | (wanted & keywords(passage.text))
    return Hit(passage, len(found) / len(wanted), len(in_title) / len(wanted))


def _list(prompt: DemoPrompt, hits: Sequence[Hit]) -> str:
    lines = [f"- {_named(hit.passage) or _quote(prompt, hit.passage)} [{hit.passage.number}]" for hit in hits]
    parts = [_phrase(prompt, "list" if len(hits) > 1 else "list_of_one", count=len(hits)), "\n".join(lines)]
    if prompt.left_out:
        parts.append(_phrase(prompt, "left_out" if prompt.left_out > 1 else "left_out_one", left_out=prompt.left_out))
    return "\n\n".join(parts)


def _best(prompt: DemoPrompt, hits: Sequence[Hit]) -> str:
    best = hits[0]
    answer = f"{_quote(prompt, best.passage)} [{best.passage.number}]"
    if named := _named(best.passage):
        answer = f"{named}: {answer}"
    others = [hit for hit in hits[1:] if hit.in_title >= best.in_title and hit.passage.title][:MOST_OTHERS]
    if others:
        names = "; ".join(f"{_named(hit.passage)} [{hit.passage.number}]" for hit in others)
        answer += "\n\n" + _phrase(prompt, "beside", others=names)
    return answer


def _named(passage: SentPassage) -> str:
    title = f"**{passage.title}**" if passage.title else ""
    return f"{title} — {passage.details}" if title and passage.details else title


def _quote(prompt: DemoPrompt, passage: SentPassage) -> str:
    """Return the sentence that has most of the question's words, or else the first, without citations of its own."""
    sentences = split_sentences(passage.prose) or [passage.text]
    match = best_match(prompt.question, map(Sentence, sentences))
    sentence = _CITATION_IN_QUOTE.sub("", match.sentence.text if match else sentences[0])
    cut = f"{sentence[:LONGEST_QUOTE_CHARACTERS]}…" if len(sentence) > LONGEST_QUOTE_CHARACTERS else sentence
    return prompt.phrases["quote"].format(quote=cut)


def _phrase(prompt: DemoPrompt, key: str, **values: object) -> str:
    return prompt.phrases[key].format(**values)
