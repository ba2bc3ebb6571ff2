"""Blocks of code: highlighting by class (colours in static/css/tokens.css) and the bar above.

A lexer is a set of regular expressions over hostile text, and many take time in the square of a
line's length or of a run of empty lines. So only well-known languages are highlighted, within limits
of size and time, and beyond them the code is shown without colours.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token as MarkdownToken
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType

from conversations.rendering.cpu_limit import CpuLimit

MAX_HIGHLIGHTED_CHARACTERS = 50_000
MAX_HIGHLIGHTED_LINE_CHARACTERS = 2_000
MAX_HIGHLIGHT_CPU_SECONDS = 0.2
MAX_LABEL_CHARACTERS = 30

_LANGUAGES = (
    "bash c c++ cpp c# cs csharp css diff docker dockerfile elixir erlang go golang graphql haskell html ini"
    " java javascript js json json5 julia kotlin latex less lua make makefile nginx objective-c ocaml perl"
    " php powershell ps1 proto protobuf py pycon python python3 pytb r rb rs ruby rust scala scss sh shell"
    " sql postgresql swift terraform tex toml ts typescript vue xml yaml yml zig zsh"
)
HIGHLIGHTED_LANGUAGES = frozenset(_LANGUAGES.split())

TOKEN_CLASSES: dict[_TokenType, str] = {
    Comment: "c",
    Comment.Preproc: "cp",
    Generic.Deleted: "gd",
    Generic.Heading: "gh",
    Generic.Inserted: "gi",
    Generic.Output: "go",
    Generic.Prompt: "gp",
    Generic.Subheading: "gu",
    Keyword: "k",
    Keyword.Constant: "kc",
    Keyword.Type: "kt",
    Name.Attribute: "na",
    Name.Builtin: "nb",
    Name.Class: "nc",
    Name.Constant: "no",
    Name.Decorator: "nd",
    Name.Exception: "ne",
    Name.Function: "nf",
    Name.Namespace: "nn",
    Name.Tag: "nt",
    Name.Variable: "nv",
    Number: "m",
    Operator: "o",
    Operator.Word: "ow",
    String: "s",
    String.Doc: "sd",
    String.Escape: "se",
    String.Interpol: "si",
    String.Regex: "sr",
}


class HighlightingTooSlow(Exception):
    """The lexer took too long over this code."""


def add_code_rules(parser: MarkdownIt) -> None:
    """Let the parser draw fenced and indented code as our code blocks."""
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("code_block", _render_fence)


def render_code(code: str, *, language: str) -> str:
    """Draw a code block with its bar; a language that is not known is shown without colours."""
    label = escape(language[:MAX_LABEL_CHARACTERS] or "text")
    return (
        '<div class="code-block"><div class="code-block-bar">'
        f'<span class="code-block-language">{label}</span>'
        '<button type="button" class="code-block-copy" data-copy></button></div>'
        f"<pre><code>{_highlight(code, language.lower())}</code></pre></div>\n"
    )


def _render_fence(renderer: Any, tokens: Sequence[MarkdownToken], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    language, _, _ = token.info.strip().partition(" ")
    return render_code(token.content, language=language)


def _highlight(code: str, language: str) -> str:
    if not _is_highlightable(code, language):
        return escape(code)
    try:
        return "".join(_spans(code, language))
    except HighlightingTooSlow:
        return escape(code)


def _is_highlightable(code: str, language: str) -> bool:
    return (
        language in HIGHLIGHTED_LANGUAGES
        and len(code) <= MAX_HIGHLIGHTED_CHARACTERS
        and all(len(line) <= MAX_HIGHLIGHTED_LINE_CHARACTERS for line in code.splitlines())
    )


def _spans(code: str, language: str) -> Iterator[str]:
    """Yield the code in pieces, neighbours of one class joined in one span."""
    last, pieces = "", [""]
    for name, piece in _classed_pieces(code, language):
        if name == last:
            pieces.append(piece)
        else:
            yield _span(last, "".join(pieces))
            last, pieces = name, [piece]
    yield _span(last, "".join(pieces))


def _span(name: str, piece: str) -> str:
    return f'<span class="{name}">{escape(piece)}</span>' if name else escape(piece)


def _classed_pieces(code: str, language: str) -> Iterator[tuple[str, str]]:
    lexer = _lexer_class(language)(stripnl=False, ensurenl=False)
    cpu_limit = CpuLimit(MAX_HIGHLIGHT_CPU_SECONDS)
    cpu_limit.start()
    for kind, piece in lexer.get_tokens(code):
        if cpu_limit.is_exceeded():
            raise HighlightingTooSlow
        yield _class_of(kind), piece


@cache  # of the listed languages: to find one, the library goes through all that it has
def _lexer_class(language: str) -> type[Lexer]:
    lexer_class: type[Lexer] = find_lexer_class_by_name(language)
    return lexer_class


@cache  # the lexers know a few hundred kinds
def _class_of(kind: _TokenType) -> str:
    """Return the class of the nearest listed ancestor of a kind of token, or nothing."""
    nearest: _TokenType | None = kind
    while nearest is not None and nearest not in TOKEN_CLASSES:
        nearest = nearest.parent
    return TOKEN_CLASSES[nearest] if nearest is not None else ""
