"""Plain sentences in code and tests: no docstring, comment or name of a test has a word that the glossary avoids."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.support.source import PROJECT

WORDS = "whoever|nobody|somebody|anew|for good|what comes of|what came of"
AVOIDED = re.compile(rf"\b({WORDS})\b(?!`)", re.IGNORECASE)  # `nobody` is a system account


def test_docstrings_and_comments_avoid_words_that_the_glossary_avoids() -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{line}: {text}"
        for path, source in _modules()
        for line, text in _prose(source)
        if AVOIDED.search(text)
    ]
    assert not found, "\n".join(found)


def test_names_of_tests_avoid_them_too() -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{node.lineno}: {node.name}"
        for path, source in _modules()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith("test_") and AVOIDED.search(node.name.replace("_", " "))
    ]
    assert not found, "\n".join(found)


def _modules() -> Iterator[tuple[Path, str]]:
    """Yield the modules that have one of the words anywhere, with their source: to parse all of them takes seconds."""
    anywhere = re.compile(WORDS, re.IGNORECASE)
    for package in ("chatsite", "conversations", "tests"):
        for path in sorted((PROJECT / package).rglob("*.py")):
            source = path.read_text()
            if "migrations" not in path.parts and anywhere.search(source.replace("_", " ")):
                yield path, source


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and the lines of docstrings, each with the number of its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield from enumerate(text.splitlines(), node.lineno)
