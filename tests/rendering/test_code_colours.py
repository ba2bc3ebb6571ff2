"""The style sheet knows every class of a token, and every colour can be read (WCAG AA)."""

import re
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name

from conversations.rendering.code_blocks import HIGHLIGHTED_LANGUAGES, TOKEN_CLASSES, _lexer_class, render_code
from tests.rendering.payloads import CODE as HOSTILE_CODE
from tests.rendering.replies import REPLIES
from tests.support.contrast import contrast

CSS = (Path(__file__).parents[2] / "static/css/tokens.css").read_text()
CODE = ["", "\n", "a\r\nb", "\ufeffx = 'y' + 1  # <z>\n", *REPLIES[:2], "\n".join(HOSTILE_CODE)]
COLOURS = re.findall(r"--code-([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)", CSS)
THEMES = {"light": {name: light for name, light, _ in COLOURS}, "dark": {name: dark for name, _, dark in COLOURS}}
READ_ON = {"string": ["bg", "inserted-bg"], "number": ["bg", "deleted-bg"]}


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_can_be_read_on_its_background(theme):
    colours = THEMES[theme]
    pairs = [(name, on) for name in colours if not name.endswith("bg") for on in READ_ON.get(name, ["bg"])]
    assert len(pairs) >= 10
    assert [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5] == []


@pytest.mark.parametrize("name", sorted(set(TOKEN_CLASSES.values())))
def test_every_class_of_a_token_has_a_rule(name):
    assert re.search(rf"\.code-block \.{name}\b", CSS)


@pytest.mark.parametrize("language", sorted(HIGHLIGHTED_LANGUAGES))
def test_every_listed_language_has_a_lexer(language):
    assert type(get_lexer_by_name(language)) is _lexer_class(language)


@pytest.mark.parametrize("language", sorted(HIGHLIGHTED_LANGUAGES))
def test_code_is_coloured_as_the_library_divides_it(language):
    for code in CODE:
        tokens = get_lexer_by_name(language, stripnl=False, ensurenl=False).get_tokens(code)
        classed = [(_nearest_class(kind), piece) for kind, piece in tokens]
        groups = [(name, "".join(piece for _, piece in group)) for name, group in groupby(classed, itemgetter(0))]
        wanted = [f'<span class="{name}">{escape(piece)}</span>' if name else escape(piece) for name, piece in groups]
        assert f"<pre><code>{''.join(wanted)}</code></pre>" in render_code(code, language=language)


def _nearest_class(kind):
    return next((TOKEN_CLASSES[each] for each in reversed(kind.split()) if each in TOKEN_CLASSES), "")
