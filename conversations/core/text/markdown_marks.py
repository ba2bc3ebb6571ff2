"""Marks of Markdown in a text: what is left out where a piece of it is shown as plain text.

What is in code stays as it is, but for the marks around it. A mark is a group of spans that are left out together, such
as both asterisks of an emphasis; a text that is none in Markdown, as in `2 * 3` or `snake_case`, has no marks. Nor has
`__init__`: who writes it means the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LONGEST_LINE_BEFORE = 120  # characters looked back to the beginning of a line
LONGEST_ADDRESS = 500
MAY_BE_MARKED = re.compile(r"[*_~`\[\\<#>|+-]|===")
FENCE = "```"
# What a line begins with, behind the signs of quotations. Each pattern takes time in proportion to the line.
LINE = re.compile(
    r"^[ \t]*(?P<quote>(?:>[ \t]?)*)[ \t]*(?:"
    r"(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)$"
    r"|(?P<rule>(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,}[ \t]*)$"
    r"|(?P<separator>\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+(?:\|[ \t]*)?|\|[ \t]*:?-+:?[ \t]*\|[ \t]*)$"
    r"|(?P<heading>\#{1,6}[ \t]+)"
    r"|(?P<bullet>[-*+](?=[ \t]))"
    r"|(?P<row>\|(?=[^\n]*\|[ \t]*$))"
    r"|)",
    re.MULTILINE,
)
INLINE = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`{1,3})(?!`)(?P<inside>[^`\n]{1,300})(?P=ticks)(?!`))"
    r"|(?P<escape>\\)[!-/:-@\[-`{-~]"
    r"|(?P<address><)https?://[^<>\s]{1,500}(?P<address_end>>)"
    r"|(?P<link_end>\]\([^()\s]{0,500}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?(?:[ \t]+\"[^\"\n]{0,200}\")?\))"
    r"|(?P<link>!?\[)"
    r"|(?P<bar>\|)"
    r"|(?P<emphasis>\*{1,3}|_{1,3}|~~)"
)
CELLS, BULLET = " · ", "•"


class MarkSpan(NamedTuple):
    """The characters *start* to *end*, in whose place *instead* is shown."""

    start: int
    end: int
    instead: str = ""


MarkdownMark = tuple[MarkSpan, ...]


def find_marks(text: str, start: int, end: int) -> list[MarkdownMark]:
    """Return the marks of the lines of *text* between *start* and *end*.

    What begins an emphasis that would end behind *end* is one too.
    """
    if not MAY_BE_MARKED.search(text, start, end):
        return []
    line_start = text.rfind("\n", max(0, start - LONGEST_LINE_BEFORE), start) + 1
    begin = line_start or max(0, start - LONGEST_LINE_BEFORE)
    is_code = (text.count("\n" + FENCE, 0, begin) + text.startswith(FENCE, 0, begin)) % 2 == 1
    return list(_marks_of_lines(text, begin, _end_of_address(text, begin, end), is_code=is_code))


def without_marks(text: str, start: int = 0, end: int | None = None, *, marks: Iterable[MarkSpan] | None = None) -> str:
    """Return the characters *start* to *end* of *text* without *marks*, which are in their order and apart.

    Without *marks* given, those of the text itself are left out.
    """
    end = len(text) if end is None else end
    spans = sorted(span for mark in find_marks(text, start, end) for span in mark) if marks is None else marks
    shown, at = [], start
    for span in spans:
        if span.end > at and span.start < end:
            shown += [text[at : span.start], span.instead]
            at = span.end
    return "".join([*shown, text[at:end]])


def _end_of_address(text: str, begin: int, end: int) -> int:
    """Return *end*, or where an address ends that begins before it: cut off, it would be no mark."""
    address = text.rfind("](", begin, end)
    is_cut = address >= 0 and text.find(")", address, end) < 0
    return (text.find(")", end, end + LONGEST_ADDRESS) + 1 or end) if is_cut else end


def _marks_of_lines(text: str, begin: int, end: int, *, is_code: bool) -> Iterator[MarkdownMark]:
    fence = FENCE if is_code else ""
    prose_from = begin
    while begin < end:
        line_end = text.find("\n", begin, end)
        line_end = end if line_end < 0 else line_end
        line = LINE.match(text, begin, line_end)
        if line and line["fence"] and (not fence or (line["fence"].startswith(fence) and not line["info"].strip())):
            yield from _marks_in(text, prose_from, begin) if not fence else ()
            yield from ((MarkSpan(*line.span(name)),) for name in ("fence", "info") if line[name])
            fence = "" if fence else line["fence"]
            prose_from = line_end
        elif not fence and line:
            yield from _marks_of_beginning(line)
            if line["row"] or line["separator"] or line["rule"]:
                yield from _marks_in(text, prose_from, begin)
                yield from _marks_in(text, line.end(), line_end, bars=True)
                prose_from = line_end
        begin = line_end + 1
    if not fence:
        yield from _marks_in(text, prose_from, end)


def _marks_of_beginning(line: re.Match[str]) -> Iterator[MarkdownMark]:
    for name in ("quote", "rule", "separator", "heading", "row"):
        if line[name]:
            yield (MarkSpan(*line.span(name)),)
    if line["bullet"]:
        yield (MarkSpan(*line.span("bullet"), BULLET),)


def _marks_in(text: str, begin: int, end: int, *, bars: bool = False) -> Iterator[MarkdownMark]:
    """Yield the marks within lines. *bars* are those between the cells of a row of a table."""
    opened: list[tuple[str, int]] = []  # of emphasis and links: what opens them, and where
    is_cut = end < len(text) and text[end] != "\n"
    for found in INLINE.finditer(text, begin, end):
        at = found.start()
        if found["code"]:
            yield MarkSpan(at, found.start("inside")), MarkSpan(found.end("inside"), found.end())
        elif found["escape"]:
            yield (MarkSpan(at, at + 1),)
        elif found["address"]:
            yield MarkSpan(at, at + 1), MarkSpan(found.end() - 1, found.end())
        elif found["bar"]:
            if bars:
                yield (MarkSpan(at, at + 1, CELLS if text[at + 1 : end].strip() else ""),)
        elif found["link"]:
            opened.append((found["link"], at))
        elif found["link_end"]:
            link = next((each for each in reversed(opened) if each[0].endswith("[")), None)
            if link:
                del opened[opened.index(link) :]
                yield MarkSpan(link[1], link[1] + len(link[0])), MarkSpan(at, found.end())
        else:
            yield from _close_or_open(text, found, opened)
    if is_cut:
        yield from ((MarkSpan(at, at + len(sign)),) for sign, at in opened if not sign.endswith("["))


def _close_or_open(text: str, found: re.Match[str], opened: list[tuple[str, int]]) -> Iterator[MarkdownMark]:
    sign, (at, after) = found["emphasis"], found.span()
    before, behind = text[at - 1 : at], text[after : after + 1]
    inside_word = sign[0] == "_" and before.isalnum() and behind.isalnum()
    if before.strip() and not inside_word and (sign[0] != "_" or not behind.isalnum()):
        opening = next((each for each in reversed(opened) if each[0] == sign), None)
        if opening:
            del opened[opened.index(opening) :]
            begin = opening[1] + len(sign)
            if not (sign == "__" and text[begin:at].isidentifier()):
                yield MarkSpan(opening[1], begin), MarkSpan(at, after)
            return
    if behind.strip() and not inside_word and (sign[0] != "_" or not before.isalnum()):
        opened.append((sign, at))
