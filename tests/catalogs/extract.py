"""What the code says: every sentence that is marked for translation in Python and in templates.

Errors of the core state theirs as the attribute `template` (and `singular`, if they count something), because the core
imports nothing; so do the clauses that are given to them as `reason`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from babel.messages.extract import DEFAULT_KEYWORDS, extract
from django.utils.translation.template import templatize

LAZY = {f"{name}_lazy": spec for name, spec in DEFAULT_KEYWORDS.items() if name.endswith("gettext")}
KEYWORDS = {**DEFAULT_KEYWORDS, **LAZY, "gettext_noop": None, "_lazy": None}
ERRORS = "core/errors"


class Said(NamedTuple):
    """A sentence: its context, if it has one, and itself; with *plural*, what is said of one."""

    singular: str
    plural: str | None = None
    context: str | None = None

    @property
    def key(self) -> tuple[str, str | None]:
        """What a catalog finds it by."""
        return self.singular, self.context


def sentences_in(path: Path) -> Iterator[Said]:
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _marked(source)
        yield from _of_errors(source, states_templates=ERRORS in path.as_posix())
    else:
        lines = templatize(source, origin=str(path)).splitlines()
        yield from _marked("\n".join(line.strip() for line in lines))


def _marked(source: str) -> Iterator[Said]:
    found = extract("python", BytesIO(source.encode()), KEYWORDS, options={"encoding": "utf-8"})
    for _, said, _, context in found:
        singular, plural = said if isinstance(said, tuple) else (said, None)
        if singular:
            yield Said(singular, plural, context)


def _of_errors(source: str, *, states_templates: bool) -> Iterator[Said]:
    for node in ast.walk(ast.parse(source)):
        if states_templates and isinstance(node, ast.ClassDef):
            stated = _attributes(node)
            if "template" in stated:
                one, many = stated.get("singular"), stated["template"]
                yield Said(one, many) if one else Said(many)
        elif isinstance(node, ast.keyword) and node.arg == "reason" and isinstance(node.value, ast.Constant):
            yield Said(node.value.value)


def _attributes(node: ast.ClassDef) -> dict[str, str]:
    """Return the texts that the class states, by their names."""
    found: dict[str, str] = {}
    for statement in node.body:
        target = getattr(statement, "target", None) or next(iter(getattr(statement, "targets", [])), None)
        value = getattr(statement, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            found[target.id] = value.value
    return found
