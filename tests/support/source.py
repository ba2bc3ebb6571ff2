"""The project's own source, read and not imported: for the tests that judge it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def python_files(*packages: str) -> list[Path]:
    """Return every Python file of *packages*, relative to the project."""
    return sorted(path.relative_to(PROJECT) for package in packages for path in (PROJECT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    """`conversations/models/__init__.py` is `conversations.models`."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse((PROJECT / path).read_text(encoding="utf-8"), filename=str(path))


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield all calls in the file with the name of what is called, `get` for `Message.objects.get(…)`."""
    for node in ast.walk(parse(path)):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield name, node


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Return (line, full name) of everything that the file imports, wherever in the file, `from x import y` as x.y."""
    return [(node.lineno, name) for node in ast.walk(parse(path)) for name in _names(node, path)]


def _names(node: ast.AST, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (".".join(filter(None, [_origin(node, path), alias.name])) for alias in node.names)


def _origin(node: ast.ImportFrom, path: Path) -> str:
    """Return the module after `from`, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    package = path.parent.parts[: len(path.parent.parts) - node.level + 1]
    return ".".join(filter(None, [*package, node.module]))


@cache
def top_level_names(path: Path) -> frozenset[str]:
    """Return the public classes and functions that the file defines at its top level."""
    definitions = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in parse(path).body if isinstance(node, definitions) and not node.name.startswith("_")
    )
