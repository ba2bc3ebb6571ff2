"""What the demo model answers from the passages that it was sent: it names them, quotes them, and cites their numbers.

A broad question, which asks for all there is of something, is answered by a list; any other by the best passage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .demo_prompt import DemoPrompt, Sentence, split_sentences
from .match_sentence import GOOD_COVERAGE, best_match, keywords
from .phrases import phrases_for
from .sent_grounding import Passage

LONGEST_QUOTE_CHARACTERS = 300
MOST_BESIDE = 2  # other passages that fit as well

# Gaps are bounded: an open one takes minutes on a text that is nothing but its first word.
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

    passage: Passage
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


def may_be_among_left_out(prompt: DemoPrompt) -> str | None:
    """Return that what answers may be among the passages that did not fit, if there were any."""
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


def _hit(passage: Passage, wanted: frozenset[str]) -> Hit:
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
    beside = [hit for hit in hits[1:] if hit.in_title >= best.in_title and hit.passage.title][:MOST_BESIDE]
    if beside:
        others = "; ".join(f"{_named(hit.passage)} [{hit.passage.number}]" for hit in beside)
        answer += "\n\n" + _phrase(prompt, "beside", others=others)
    return answer


def _named(passage: Passage) -> str:
    title = f"**{passage.title}**" if passage.title else ""
    return f"{title} — {passage.details}" if title and passage.details else title


def _quote(prompt: DemoPrompt, passage: Passage) -> str:
    """Return the sentence that has most of the question's words, or else the first, without citations of its own."""
    sentences = split_sentences(passage.prose) or [passage.text]
    match = best_match(prompt.question, map(Sentence, sentences))
    sentence = _CITATION_IN_QUOTE.sub("", match.sentence.text if match else sentences[0])
    cut = f"{sentence[:LONGEST_QUOTE_CHARACTERS]}…" if len(sentence) > LONGEST_QUOTE_CHARACTERS else sentence
    return phrases_for(prompt.question)["quote"].format(quote=cut)


def _phrase(prompt: DemoPrompt, key: str, **values: object) -> str:
    return phrases_for(prompt.question)[key].format(**values)
