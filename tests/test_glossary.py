"""Plain sentences in code and tests: no docstring, comment or name of a test has a word that the glossary avoids."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.support.source import PROJECT

AVOIDED = re.compile(  # `nobody` is a system account
    r"\b(whoever|nobody|somebody|anew|for good|what comes of|what came of)\b(?!`)", re.IGNORECASE
)


def test_docstrings_and_comments_avoid_words_that_the_glossary_avoids() -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{line}: {text}"
        for path in _modules()
        for line, text in _prose(path.read_text())
        if AVOIDED.search(text)
    ]
    assert not found, "\n".join(found)


def test_names_of_tests_avoid_them_too() -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{node.lineno}: {node.name}"
        for path in _modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith("test_") and AVOIDED.search(node.name.replace("_", " "))
    ]
    assert not found, "\n".join(found)


def _modules() -> Iterator[Path]:
    for package in ("chatsite", "conversations", "tests"):
        paths = sorted((PROJECT / package).rglob("*.py"))
        yield from (path for path in paths if "migrations" not in path.parts)


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and the lines of docstrings, each with the number of its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield from enumerate(text.splitlines(), node.lineno)
