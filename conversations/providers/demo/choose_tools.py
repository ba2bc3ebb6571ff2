"""The demo model's choice of tools: of those that it is offered, the ones that serve the question.

It is no language model and only knows some forms of questions, in English and Chinese; sums are rewritten in the signs
of a calculator: "What is 17 × 23?" asks for `17 * 23`. Any tool is called when the user names it:
`call crm__create_ticket with {"title": "Lamp"}`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from conversations.core.prompt.messages import PromptToolCall

from .demo_prompt import DemoPrompt
from .quotations import answer_from_passages

MOST_SUMS = 4
_IN_SIGNS = (
    (re.compile(r"\s{0,3}(?:\btimes\b|\bmultiplied by\b|乘以|乘)\s{0,3}", re.IGNORECASE), " * "),
    (re.compile(r"\s{0,3}(?:\bdivided by\b|除以)\s{0,3}", re.IGNORECASE), " / "),
    (re.compile(r"\s{0,3}(?:\bplus\b|加上?)\s{0,3}", re.IGNORECASE), " + "),
    (re.compile(r"\s{0,3}(?:\bminus\b|减去?)\s{0,3}", re.IGNORECASE), " - "),
    (re.compile(r"(?<=\d)\s{0,3}(?:%|\bper ?cent\b) of\s{1,3}(?=\d)", re.IGNORECASE), " / 100 * "),
    (re.compile(r"(?<=[\d)])\s{0,3}[x×·∙]\s{0,3}(?=[\d(])"), " * "),
    (re.compile(r"÷"), " / "),
    (re.compile(r"[−–]"), "-"),
    (re.compile(r"\^"), "**"),
    (re.compile(r"（"), "("),
    (re.compile(r"）"), ")"),
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
)
_ASKS_FOR_RESULT = re.compile(
    r"\bwhat(?:'s|’s| is| are)\b|\bhow much\b|\b(?:calculate|compute|solve|work out|add up)\b|=|多少|等于|计算|算",
    re.IGNORECASE,
)
_SUM = re.compile(
    r"(?<![\w.])[(\-]{0,5}\d[\d\s.+\-*/()]{0,200}[\d)](?=\s{0,3}(?:[?？=.,，。;；!！]|and\b|$|等于|是|得|和|又))"
)
_LETTER = re.compile(r"[^\W\d_]")
_OPERATOR = re.compile(r"[\d)]\s*(?:\*\*|[+\-*/])\s*[(\-]*\d")


def sums_in(question: str) -> list[str]:
    """Return the sums that *question* asks for, at most `MOST_SUMS`, in signs that every calculator knows."""
    in_signs = question
    for words, signs in _IN_SIGNS:
        in_signs = words.sub(signs, in_signs)
    if not _ASKS_FOR_RESULT.search(question) and _LETTER.search(in_signs):
        return []
    found = (" ".join(match[0].split()) for match in _SUM.finditer(in_signs))
    return [each for each in found if _OPERATOR.search(each)][:MOST_SUMS]


CALCULATOR, CLOCK = "calculator", "current_time"
SEARCH_CONVERSATION, SEARCH_DOCUMENTS = "search_conversation", "search_documents"
MOST_CALLS = 4

# Gaps are bounded: an open one takes minutes on a text that repeats its first word.
_ASKS_FOR_TIME = re.compile(
    r"\bwhat(?:'s|’s| is)? (?:the )?(?:current )?time(?: is it)?(?: right)?(?: now)?(?: in\b|\s*[?.!,;]|\s*$| and\b)"
    r"|\bwhat (?:day|date|year|month) is (?:it|today)\b|\bwhat(?:'s|’s| is) (?:today(?:'s|’s) date|the date today)\b"
    r"|\bcurrent (?:date|time)\b|(?:现在|此刻)(?:是)?(?:几点|什么时间|什么时候)|^\W*几点(?:了|钟)"
    r"|今天(?:是)?(?:几号|几月|星期几|周几|礼拜几|什么日子|什么日期)|当前(?:的)?(?:时间|日期)",
    re.IGNORECASE,
)
_TIME_ZONE = re.compile(r"\b(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][\w/-]{2,40}")
_ASKS_WHAT_WAS_SAID = re.compile(
    r"\b(?:what|when|where) (?:did|have|had) (?:i|we) (?:say|said|tell you|told you|mention|mentioned|write|written)\b"
    r"|\b(?:did|have) (?:i|we) (?:mention|mentioned|say anything|said anything|tell you|told you)\b"
    r"|我(?:们)?(?:之前|以前|曾经|刚才)?(?:说过|提到过|提过|讲过)|我(?:们)?(?:之前|以前|刚才).{0,40}?(?:说|提到|讲)了?",
    re.IGNORECASE,
)
_ASKS_FOR_DOCUMENTS = re.compile(
    r"\bmy (?:documents?|files?) (?:says?|said|have|tells?|mentions?)\b"
    r"|\b(?:search|look|find|check)\b.{0,40}?\b(?:my|the|our) (?:documents?|files?)\b|\bdo my (?:documents?|files?)\b"
    r"|(?:我的|我们的)?(?:文档|文件|资料)(?:里|中|里面)?.{0,40}?(?:怎么说|说了?什么|有没有|提到|写了?什么)"
    r"|(?:查|搜索|搜一下|查找).{0,20}?(?:文档|文件|资料)",
    re.IGNORECASE,
)
_NAMES_A_TOOL = re.compile(
    r"(?:\b(?:call|use|run)\b|调用|使用|运行)[ `:：]{1,3}(?P<name>[A-Za-z0-9_-]{1,64})`?", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"(?:\babout|\bregarding|\bmention(?:ed)?|\bfor|关于|提到过?|提过|说过|讲过)\s{0,3}(?P<subject>[^?？.。!！\n]{1,100})",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"^(?:什么|那件事|它)?$|^(?:the|my|our|a|an|any|all|that)\s+|^(?:关于|了)|(?:的)?(?:什么(?:话|内容)?|吗|呢|说了什么|怎么说|有什么|事)$"
    r"|\s+(?:in|from) (?:my|the|our) (?:documents?|files?)\b.*",
    re.IGNORECASE,
)


class RequestedTool(NamedTuple):
    """A tool with its arguments, as JSON text."""

    name: str
    arguments: str


def choose_tools(prompt: DemoPrompt) -> tuple[PromptToolCall, ...]:
    """Return the tool calls that the newest question makes the demo model ask for: none once there are results."""
    if prompt.results:
        return ()
    requested = list(dict.fromkeys(_requested(prompt)))[:MOST_CALLS]
    digest = hashlib.sha256(str(prompt.messages).encode()).hexdigest()[
        :12
    ]  # of a call its own, and the same for the same prompt
    return tuple(PromptToolCall(f"call_{digest}_{place}", *each) for place, each in enumerate(requested))


def asks_for_time(question: str) -> bool:
    return _ASKS_FOR_TIME.search(question) is not None


def _requested(prompt: DemoPrompt) -> Iterator[RequestedTool]:
    question = prompt.question
    if named := list(_named(prompt)):
        yield from named
        return
    if asks_for_time(question):
        zone = _TIME_ZONE.search(question)
        yield from _call(prompt, CLOCK, zone[0] if zone else None)
    for each in sums_in(question):
        yield from _call(prompt, CALCULATOR, each)
    if _ASKS_WHAT_WAS_SAID.search(question):
        yield from _call(prompt, SEARCH_CONVERSATION, _subject(question))
    if _ASKS_FOR_DOCUMENTS.search(question) and not answer_from_passages(prompt):
        yield from _call(prompt, SEARCH_DOCUMENTS, _subject(question))


def _named(prompt: DemoPrompt) -> Iterator[RequestedTool]:
    """Yield the tools that the user names, each with the JSON that stands behind it."""
    for match in _NAMES_A_TOOL.finditer(prompt.question):
        if match["name"] in prompt.tools:
            yield RequestedTool(match["name"], _json_behind(prompt.question[match.end() :]))


def _json_behind(text: str) -> str:
    """Return the object that *text* soon begins with; broken JSON to its end, for a tool to refuse."""
    start = text[:40].find("{")
    if start < 0:
        return "{}"
    try:
        _, end = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return text[start:].strip()
    return text[start : start + end]


def _call(prompt: DemoPrompt, name: str, value: str | None) -> Iterator[RequestedTool]:
    """Yield a call with *value* for the first thing that the tool's schema asks for, if it is offered."""
    if name in prompt.tools:
        argument = _first_argument(prompt.tools[name])
        given = {argument: value} if argument and value is not None else {}
        yield RequestedTool(name, json.dumps(given, ensure_ascii=False))


def _first_argument(function: Mapping[str, Any]) -> str:
    parameters = function.get("parameters") or {}
    return next(iter([*parameters.get("required", ()), *parameters.get("properties", ())]), "")


def _subject(question: str) -> str:
    """Return the subject of a search: what stands behind "about", or else the question."""
    for match in _SUBJECT.finditer(question):
        if subject := _bare(match["subject"]):
            return subject
    return question[:200].strip()


def _bare(subject: str) -> str:
    """Return *subject* without the small words around it."""
    before = ""
    while subject != before:
        before, subject = subject, _NO_SUBJECT.sub("", subject.strip(" \t,，、“”\"'"))
    return subject
