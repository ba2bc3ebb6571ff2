"""No words reach a page without having passed through a catalog."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.source import PROJECT, python_files

from .literals import literals_in

BUILT_OF_PIECES = {Path("templates/allauth/elements/button.html")}  # its tag is none to a parser
TEMPLATES = sorted(path.relative_to(PROJECT) for path in (PROJECT / "templates").rglob("*.html"))
SCRIPTS = sorted(path.relative_to(PROJECT) for path in (PROJECT / "static").rglob("*.js"))
SENTENCE_NAME = re.compile(r'"(\w+)": "{% filter escapejs %}')
# Names that are the same in every language.
NAMES = {"JSON", "CSV", "HTML", "MD", "Esc", "Enter", "Shift", "Alt", "Ctrl", "Tab", "PDF", "HTTP"}
# What a message of the scripts' own would look like: words in a row that begin with a capital, or end with a stop.
SENTENCE = re.compile(r"""(["'`])(?P<words>[A-Z][a-z]+ [^"'`\n]{3,}|[a-z]+ [^"'`\n]{8,}[.…?!])\1""")
FOR_DEVELOPERS = re.compile(r"console\.\w+\(|new Error\(|^\s*(/\*\*|\*|//)")
# Where a text that is given to one of these stands alone, a person reads it.
SAID_TO_PEOPLE = {"ValidationError", "add_error"} | {f"messages.{level}" for level in ("success", "info", "error")}


@pytest.mark.parametrize("path", [path for path in TEMPLATES if path not in BUILT_OF_PIECES], ids=str)
def test_a_template_has_no_words_of_its_own(path):
    found = literals_in((PROJECT / path).read_text(encoding="utf-8"))
    assert not [text for text in found if not set(re.findall(r"[^\W\d_]{2,}", text)) <= NAMES]


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_a_script_has_no_sentence_of_its_own(path):
    """Scripts take their words from the page, from its JSON."""
    lines = (PROJECT / path).read_text(encoding="utf-8").splitlines()
    found = [match["words"] for line in lines if not FOR_DEVELOPERS.search(line) for match in SENTENCE.finditer(line)]
    assert not found


def test_python_tells_people_nothing_that_is_not_translated():
    files = [
        path for path in python_files("chatsite", "conversations") if not {"migrations", "providers"} & set(path.parts)
    ]
    found = [place for path in files for place in _told(path)]
    assert not found


def _told(path):
    """Yield where a literal is what a person is told, or what a form's field is called."""
    for node in ast.walk(ast.parse((PROJECT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if any(name.endswith(teller) for teller in SAID_TO_PEOPLE):
                yield from (f"{path}:{node.lineno}" for value in node.args if _is_sentence(value))
            named = (
                word for word in node.keywords if word.arg in ("label", "help_text", "verbose_name", "empty_label")
            )
            yield from (f"{path}:{node.lineno}" for word in named if _is_sentence(word.value))


def _is_sentence(node):
    if isinstance(node, ast.JoinedStr):
        return True
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(re.search(r"[A-Z ]", node.value))


@pytest.mark.parametrize(
    "template",
    [
        "<p>Hello</p>",
        '<a title="Back">{{ name }}</a>',
        '<script type="application/json">{"done": "Done"}</script>',
        "{% translate 'Known' %} unknown",
    ],
)
def test_words_outside_are_found(template):
    assert list(literals_in(template))


@pytest.mark.parametrize(
    "template",
    [
        "{% translate 'Hello' %}",
        "{% blocktranslate %}Hello <b>{{ name }}</b>{% endblocktranslate %}",
        "{# a note #}{% comment %}another{% endcomment %}",
        '<a class="button" data-copy="words">{{ name }} · 5</a>',
        '<script type="application/json">{"done": "{% filter escapejs %}{{ done }}{% endfilter %}"}</script>',
    ],
)
def test_words_inside_are_not(template):
    assert not list(literals_in(template))


def test_the_sentences_of_the_pages_are_those_that_scripts_know_by_name():
    module = (PROJECT / "static/js/shared/sentences.js").read_text(encoding="utf-8")
    known = re.findall(r'"(\w+)"', module.partition("@typedef")[2].partition("SentenceName")[0])
    given = {name for path in TEMPLATES for name in SENTENCE_NAME.findall((PROJECT / path).read_text(encoding="utf-8"))}
    assert given == set(known)
