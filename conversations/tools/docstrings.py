"""Docstrings parsed into descriptions of a function and its parameters: Google, NumPy and Sphinx style."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from griffe import Docstring, DocstringSection, DocstringSectionParameters, DocstringSectionText, Parser
from griffe import infer_docstring_style as infer_style
from griffe import parse as parse_in_style

LONGEST_DESCRIPTION = 1024  # characters that OpenAI takes: https://platform.openai.com/docs/api-reference, 2026-11-21


class FunctionDocs(NamedTuple):
    """*description* is all that comes before the first section; *parameters* name → description."""

    description: str
    parameters: Mapping[str, str]


def parse_docstring(function: Callable[..., Any]) -> FunctionDocs:
    """Return the description of *function* and of its parameters, blank without a docstring."""
    sections = _sections(inspect.getdoc(function) or "")
    text = next((section.value for section in sections if isinstance(section, DocstringSectionText)), "")
    lists = (section.value for section in sections if isinstance(section, DocstringSectionParameters))
    parameters = {
        parameter.name.lstrip("*"): _one_line(parameter.description) for items in lists for parameter in items
    }
    return FunctionDocs(text.strip()[:LONGEST_DESCRIPTION], parameters)


def _sections(text: str) -> list[DocstringSection]:
    docstring = Docstring("")
    # As it is: cleaned twice it would lose its form, and a section is found only with line ends around it.
    docstring.value = f"\n{text}\n"
    style, _ = infer_style(docstring, default=Parser.google)
    return parse_in_style(docstring, style or Parser.google, warnings=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())
