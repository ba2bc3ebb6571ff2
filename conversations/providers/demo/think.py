"""What the demo model thinks before it answers: if the question asks it to, “think about it”, or by the effort chosen.

It is no language model: it goes through the sentences that it was given and says which of them share words with the
question. Thinking long takes more than the room that its small window keeps for a reply.
"""

from __future__ import annotations

import re

from .demo_prompt import DemoPrompt, Sentence
from .quotations import LONGEST_QUOTE_CHARACTERS

_ASKS_TO_THINK = re.compile(
    r"\bthink (?:(?P<long>long|very hard) )?(?:about|over|through|hard|twice|first|step by step)\b"
    r"|(?P<long_chinese>好好)?想一想|仔细(?:想|思考)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w{4,}")
MOST_SENTENCES = 6
LOW_SENTENCES = 2
LONG_CHARACTERS = 3_200  # about 750 tokens: more than 500, the room of the small demo model, and less than twice that

ENGLISH = {
    "begin": "I am to think about this: “{question}”",
    "given": "I was given {count} messages, {tokens} tokens in all. I go through them, newest first.",
    "shares": "{number}. “{quote}” has “{words}” in common with the question.",
    "nothing": "{number}. “{quote}” has nothing to do with it.",
    "again": "Once more, to be sure.",
    "end": "That is all there is. I answer with what comes closest.",
}
CHINESE = {
    "begin": "我要想的是：“{question}”",
    "given": "我收到了 {count} 条消息，共 {tokens} 个 token。我从最新的开始逐句看。",
    "shares": "{number}. “{quote}”与问题有共同的词：“{words}”。",
    "nothing": "{number}. “{quote}”与问题无关。",
    "again": "为了保险，再看一遍。",
    "end": "全部看完了。我用最接近的内容来回答。",
}


def think(prompt: DemoPrompt, effort: str = "") -> str:
    """Return the thoughts, or nothing: they come once, before the tools are called.

    Without *effort*, which the effort "none" forbids, only a question that asks for them gets any.
    """
    asked = _ASKS_TO_THINK.search(prompt.question)
    if prompt.results or effort == "none" or not (asked or effort):
        return ""
    most = LOW_SENTENCES if effort == "low" else MOST_SENTENCES
    phrases = CHINESE if re.search(r"[\u4e00-\u9fff]", prompt.question) else ENGLISH
    lines = [
        phrases["begin"].format(question=_quoted(prompt.question)),
        phrases["given"].format(count=prompt.message_count, tokens=f"{prompt.tokens:,}"),
    ]
    lines += _go_through(prompt, phrases, most)
    if asked and (asked["long"] or asked["long_chinese"]):
        again = "\n".join([phrases["again"], *_go_through(prompt, phrases, most)])
        lines += [again] * (LONG_CHARACTERS // len(again) + 1)
    return "\n".join([*lines, phrases["end"]])


def _go_through(prompt: DemoPrompt, phrases: dict[str, str], most: int) -> list[str]:
    wanted = _words(prompt.question)
    lines = []
    for number, sentence in enumerate(prompt.sentences[:most], start=1):
        words = ", ".join(sorted(wanted & _words(sentence.text)))
        key = "shares" if words else "nothing"
        lines.append(phrases[key].format(number=number, quote=_quoted(sentence), words=words))
    return lines


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _quoted(sentence: Sentence | str) -> str:
    text = " ".join((sentence if isinstance(sentence, str) else sentence.text).split())
    return text if len(text) <= LONGEST_QUOTE_CHARACTERS else f"{text[:LONGEST_QUOTE_CHARACTERS]}…"
