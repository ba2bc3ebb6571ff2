"""Build a release of the last commit into dist/: `make release`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.source import PROJECT

from .build import build_release

FINAL = re.compile(r"-(\d+\.\d+\.\d+)-py3-none-any\.whl$")


def main() -> None:
    try:
        built = build_release(PROJECT, PROJECT / "dist")
    except subprocess.CalledProcessError as error:
        sys.exit(f"The release can't be built: {(error.stderr or str(error)).strip()}")
    for file in built:
        print(f"{file.relative_to(PROJECT)}: {file.stat().st_size:,} bytes")
    for warning in warnings(built):
        print(f"Warning: {warning}", file=sys.stderr)


def warnings(built: list[Path]) -> list[str]:
    """Return what should stop a person from publishing *built*."""
    found = []
    if run("git", "status", "--porcelain"):
        found.append("what is not committed is not in it.")
    finals = [match[1] for file in built if (match := FINAL.search(file.name))]
    if not finals:
        found.append("the version in pyproject.toml is not that of a release.")
    headings = re.findall(r"^## (.+)$", run("git", "show", "HEAD:CHANGELOG.md"), flags=re.MULTILINE)
    if not all(any(re.match(rf"\[?{re.escape(version)}\b.*\d{{4}}", line) for line in headings) for version in finals):
        found.append("CHANGELOG.md has no heading with this version and a date.")
    return found


def run(*command: str) -> str:
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
