"""Citations: `[1]`, `[2][3]`, `[1, 4]` in a reply that passages were sent for become buttons which show the passage.

The number of passages stands in the parser's environment. A larger number is no citation, and neither is one in code,
in a link or in the description of an image.
"""

import re
from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_NUMBER = r"[1-9][0-9]{0,2}"
# What looks like a link and is none, because its address is refused, stays what was written.
_CITATION = re.compile(rf"\[({_NUMBER}(?:[ \u00a0]?[,;，、；][ \u00a0]?{_NUMBER}){{0,9}})\](?!\()")
_DIGITS = re.compile(r"[0-9]+")
_PASSAGES = "passages_to_cite"


def add_citation_rule(parser: MarkdownIt) -> None:
    """Let the parser find citations; it looks for links first."""
    parser.inline.ruler.after("image", "citation", _find_citation)
    parser.add_render_rule("citation", _render_citation)


def citation_env(passages: int) -> MutableMapping[str, Any]:
    """Return the parser's environment for a text that may cite so many passages."""
    return {_PASSAGES: passages}


def _find_citation(state: StateInline, silent: bool) -> bool:
    # Silently the parser looks for the end of a link's text, where there are no citations.
    passages = 0 if silent or state.linkLevel else state.env.get(_PASSAGES, 0)
    match = _CITATION.match(state.src, state.pos, state.posMax) if passages else None
    numbers = [int(digits) for digits in _DIGITS.findall(match[1])] if match else []
    if match is None or not any(number <= passages for number in numbers):
        return False
    for number in numbers:
        _push(state, number, is_citation=number <= passages)
    state.pos = match.end()
    return True


def _push(state: StateInline, number: int, *, is_citation: bool) -> None:
    written = f"[{number}]"
    if is_citation:
        token = state.push("citation", "button", 0)
        token.content, token.meta = written, {"number": number}
    else:
        state.append_pending(written)


def _render_citation(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    number = tokens[index].meta["number"]
    return f'<button type="button" class="citation" data-citation="{number}">[{number}]</button>'
