r"""Formulas in TeX to MathML: `$..$`, `\(..\)` in a line; `$$..$$`, `\[..\]` set apart.

A dollar opens a formula only before, and closes one only after, something that is not a space, and
never before a digit, so that "from $5 to $6" stays money.
"""

import logging
import re
from functools import lru_cache
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import Element

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

logger = logging.getLogger(__name__)

MAX_FORMULA_CHARACTERS = 2_000
MAX_FORMULA_DEPTH = 60
# Converted formulas that a process keeps: a reply about x says $x$ in each paragraph, and what was streamed is rendered
# again for pages. As MathML most take less than a kilobyte; made up to be long, all together three megabytes.
KEPT_FORMULAS, KEPT_FORMULA_CHARACTERS = 128, 200

_ELEMENTS = (
    "math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup"
    " mtable mtd mtext mtr munder munderover"
)
MATH_ELEMENTS = frozenset(_ELEMENTS.split())

_LENGTH = r"[+-]?(?:\d{0,2}(?:\.\d{1,4})?(?:pt|px|mu)|\d?(?:\.\d{1,4})?(?:em|ex|cm|in)|0)"
_WORDS = r"[a-z -]{1,60}"
MATH_ATTRIBUTES = {
    **dict.fromkeys(("width", "height", "depth", "voffset", "lspace", "rspace", "linethickness"), _LENGTH),
    **dict.fromkeys(("minsize", "maxsize"), r"\d(?:\.\d{1,3})?(?:em)?"),
    **dict.fromkeys(("columnalign", "columnlines", "rowlines", "notation", "mathvariant", "form"), _WORDS),
    **dict.fromkeys(("accent", "displaystyle", "fence", "movablelimits", "stretchy"), "true|false"),
    "columnspacing": rf"(?:{_LENGTH} ?){{1,20}}",
    "display": "block|inline",
    "mathcolor": r"#[0-9A-Fa-f]{3,6}|[A-Za-z]{1,20}",
    "scriptlevel": r"[+-]?\d",
}
"""Attribute → what its whole value must match. Lengths stay small: a formula must not cover the page."""
_HARMLESS_VALUES = {name: re.compile(pattern) for name, pattern in MATH_ATTRIBUTES.items()}

# Definitions are refused because they can be made to grow without bound when they are expanded.
_DEFINITION = re.compile(r"\\(?:def|newcommand|renewcommand|newenvironment|DeclareMathOperator)\b")
# Environments that the converter does not know, and numbered ones, whose numbers would start again each time.
_ENVIRONMENTS = {
    **dict.fromkeys(("align", "aligned", "eqnarray", "eqnarray*", "flalign", "flalign*"), "align*"),
    **dict.fromkeys(("gather", "gather*", "gathered", "multline", "multline*"), "matrix"),
    **dict.fromkeys(("equation", "equation*"), "matrix"),
    **dict.fromkeys(("dcases", "rcases"), "cases"),
}
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([a-z]+\*?)\}")
_CHARACTER_REFERENCE = re.compile(r"&#x[0-9A-Fa-f]{1,6};")

_BLOCK_CLOSERS = {"$$": "$$", "\\[": "\\]"}
_INLINE_FORMS = (
    ("$$", re.compile(r"\$\$([^$]++)\$\$"), True),
    ("$", re.compile(r"\$(?![\s$])((?:\\.|[^\\$])++)(?<!\s)\$(?!\d)", re.DOTALL), False),
    ("\\(", re.compile(r"\\\((.{1,2000}?)\\\)", re.DOTALL), False),
    ("\\[", re.compile(r"\\\[(.{1,2000}?)\\\]", re.DOTALL), True),
)


class FormulaTooComplex(ValueError):
    """The formula is above a limit of ours; its source is shown instead."""


def add_formula_rules(parser: MarkdownIt) -> None:
    """Let the parser find formulas and draw them as MathML."""
    interrupted: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("fence", "formula_block", _find_block, interrupted)
    parser.inline.ruler.before("escape", "formula", _find_inline)
    parser.add_render_rule("formula", _render_inline)
    parser.add_render_rule("formula_block", _render_block)


def render_formula(source: str, *, display: bool, written: str) -> str:
    """Convert TeX to MathML; what cannot be converted is shown as it was *written*, delimiters included."""
    convert = _to_kept_mathml if len(source) <= KEPT_FORMULA_CHARACTERS else _to_mathml
    try:
        return convert(source, "block" if display else "inline")
    except Exception as error:  # the converter raises whatever its recursion stumbles over
        logger.debug("formula of %d characters shown as source: %s", len(source), type(error).__name__)
        return f'<code class="math-error">{escape(written)}</code>'


def _to_mathml(source: str, display: str) -> str:
    if len(source) > MAX_FORMULA_CHARACTERS or _DEFINITION.search(source):
        raise FormulaTooComplex
    from latex2mathml.converter import Converter  # a megabyte of symbols, which few replies have

    root = Converter(display=display).convert_to_element(_with_known_environments(source))
    parts: list[str] = []
    _write(root, MAX_FORMULA_DEPTH, parts)
    return "".join(parts)


_to_kept_mathml = lru_cache(KEPT_FORMULAS)(_to_mathml)


def _with_known_environments(source: str) -> str:
    return _ENVIRONMENT.sub(lambda match: f"\\{match[1]}{{{_ENVIRONMENTS.get(match[2], match[2])}}}", source)


def _write(element: Element, depth_left: int, parts: list[str]) -> None:
    """Write an element with its harmless attributes, and the converter's character references as characters.

    The converter's own output step writes text unescaped, so it is never used here. No text follows an element.
    """
    if not depth_left:
        raise FormulaTooComplex
    text = element.text or ""
    if "&" in text:
        text = _CHARACTER_REFERENCE.sub(lambda match: unescape(match[0]), text)
    attributes = [f' {name}="{escape(value)}"' for name, value in element.items() if _is_harmless(name, value)]
    parts += "<", element.tag, *attributes, ">", escape(text)
    for child in element:
        _write(child, depth_left - 1, parts)
    parts += "</", element.tag, ">"


def _is_harmless(name: str, value: str) -> bool:
    pattern = _HARMLESS_VALUES.get(name)
    return pattern is not None and pattern.fullmatch(value) is not None


def _find_inline(state: StateInline, silent: bool) -> bool:
    for opener, pattern, display in _INLINE_FORMS:
        if state.src.startswith(opener, state.pos):
            match = pattern.match(state.src, state.pos, state.posMax)
            if match and match[1].strip():
                return _take_inline(state, match, display, silent)
    return False


def _take_inline(state: StateInline, match: re.Match[str], display: bool, silent: bool) -> bool:
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup, token.meta = match[1].strip(), match[0], {"display": display}
    state.pos = match.end()
    return True


def _find_block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Take whole lines: the first begins with an opener, and the next closer ends its own line."""
    start = state.bMarks[first] + state.tShift[first]
    closer = _BLOCK_CLOSERS.get(state.src[start : start + 2])
    if closer is None or state.is_code_block(first):
        return False
    closed_at = state.src.find(closer, start + 2, start + 2 + MAX_FORMULA_CHARACTERS)
    after = _line_closed_at(state, closed_at, first, end)
    if after is None or not state.src[start + 2 : closed_at].strip():
        return False
    if not silent:
        _push_block(state, first, after)
    state.line = after if not silent else state.line
    return True


def _line_closed_at(state: StateBlock, closed_at: int, first: int, end: int) -> int | None:
    """Return the line after the one which ends with the closer, if a block of lines leads there."""
    line = first
    while closed_at >= 0 and line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        if closed_at < state.eMarks[line]:
            ends_line = not state.src[closed_at + 2 : state.eMarks[line]].strip()
            return line + 1 if ends_line else None
        line += 1
    return None


def _push_block(state: StateBlock, first: int, after: int) -> None:
    written = state.getLines(first, after, state.sCount[first], False).strip()
    token = state.push("formula_block", "math", 0)
    token.content, token.markup, token.map = written[2:-2].strip(), written, [first, after]


def _render_inline(renderer: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    return render_formula(token.content, display=token.meta["display"], written=token.markup)


def _render_block(renderer: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    formula = render_formula(token.content, display=True, written=token.markup)
    return f'<div class="math-display">{formula}</div>\n'
