"""`make bench`: lists the benchmarks, each with the first line of its docstring."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmarks() -> dict[str, str]:
    """Return name → what it measures. A module is a benchmark if it can be run as one."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}
    runnable = {name: source for name, source in sources.items() if "__main__" in source and name[0] != "_"}
    return {name: first_line(source) for name, source in runnable.items()}


def first_line(source: str) -> str:
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def main() -> None:
    print("Run one with: .venv/bin/python -m tests.benchmarks.NAME [--json FILE]\n")
    for name, purpose in benchmarks().items():
        print(f"  {name:<20} {purpose}")


if __name__ == "__main__":
    main()
