"""ES modules as one script: each becomes a function of its own, in the order in which they need each other.

For modules as ours are: named imports by relative paths and named exports that stay what they are. Anything else is
refused, and so are modules that import each other in a circle: in one script none of them could come first.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"(\.[^"]+)";\n?', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function\*? (\w+)|class (\w+)|const (\w+) =)", re.MULTILINE)
EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n?", re.MULTILINE)
LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
# Of a comment that fills its lines. What is sent to every visitor needs no reasons; names and lines stay readable.
COMMENT = re.compile(r"^[ ]*(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
REMARK = re.compile(r"(?<=[;,{}()\]]) // (?:[^\n\"'`]|\b'\b)*$", re.MULTILINE)  # behind a statement, without quotes
BLANKS = re.compile(r"^[ ]+|^\n", re.MULTILINE)
TYPE = re.compile(r"/\*\* @type \{[^\n]*?\} \*/ (?=[({\w])")


class BundleError(ValueError):
    """A module can't be joined with others."""


def bundle_modules(entry: str, read: Callable[[str], str]) -> str:
    """Return one script that does what the module *entry* and all that it imports do; *read* returns a source.

    It exports what *entry* does.
    """
    exported = _exports_of(read(entry))
    given = f"export const {{ {', '.join(exported)} }} = {_variable(entry)};\n" if exported else ""
    return "".join(_as_function(path, source) for path, source in _in_order(entry, read)) + given


def imported_paths(path: str, source: str) -> list[str]:
    """Return the paths of the modules that *source*, which stands at *path*, imports."""
    return [posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for _, name in IMPORT.findall(source)]


def _in_order(entry: str, read: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield each module once, after those that it imports."""
    done: set[str] = set()

    def visit(path: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        if path in above:
            raise BundleError(f"modules import each other in a circle: {' → '.join((*above, path))}")
        if path not in done:
            source = read(path)
            for needed in imported_paths(path, source):
                yield from visit(needed, (*above, path))
            done.add(path)
            yield path, source

    yield from visit(entry, ())


def _as_function(path: str, source: str) -> str:
    def import_names(match: re.Match[str]) -> str:
        names, name = match.groups()
        if names is None:
            return ""
        module = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        wanted = ", ".join(each.replace(" as ", ": ") for each in _names_in(names))
        return f"const {{ {wanted} }} = {_variable(module)};\n"

    exported = [name if name == inner else f"{name}: {inner}" for name, inner in _exports_of(source).items()]
    body = EXPORT_LIST.sub("", EXPORT.sub("", IMPORT.sub(import_names, _without_comments(source)))).strip("\n")
    if left := LEFT.search(body):
        raise BundleError(f"{path}: only named imports and exports can be joined, not: {left[0]}")
    given = f"\nreturn {{ {', '.join(exported)} }};" if exported else ""
    return f"const {_variable(path)} = (() => {{\n{body}{given}\n}})();\n"


def _exports_of(source: str) -> dict[str, str]:
    """Return each name that a module exports, with the one that it has within."""
    exported = {name: name for names in EXPORT.findall(source) for name in names if name}
    for listed in EXPORT_LIST.findall(source):
        for each in _names_in(listed):
            inner, _, outer = each.partition(" as ")
            exported[outer or inner] = inner
    return exported


def _without_comments(source: str) -> str:
    code = TYPE.sub("", COMMENT.sub("", source))
    if any(line.count("`") % 2 for line in code.splitlines()):
        return code  # a text may go over several lines, in which blanks count
    return BLANKS.sub("", REMARK.sub("", code))


def _names_in(braces: str) -> list[str]:
    return [each.strip() for each in braces.split(",") if each.strip()]


def _variable(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))
