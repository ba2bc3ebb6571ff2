"""Run pytest, and up to five failed browser tests once more, alone: `python -m tests.support.second_try ARGUMENTS`.

Used by continuous integration, see docs/decisions/0089-*. The report of the first failure stays in the output.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
FOLDER = "tests/browser/"
MOST = 5
SOME_FAILED = 1  # pytest's exit code; others mean that some tests did not run


def main(arguments: list[str]) -> int:
    """Run the tests that *arguments* name. Returns the exit code: 0 also if what failed passes alone."""
    FAILED.unlink(missing_ok=True)
    code = run_pytest(arguments)
    failed = list(json.loads(FAILED.read_text(encoding="utf-8"))) if FAILED.exists() else []
    if not may_try_again(code, failed):
        return code
    print(f"Second try of {len(failed)} that failed, alone:", *failed, sep="\n  ", flush=True)
    return run_pytest(failed)


def may_try_again(code: int, failed: list[str]) -> bool:
    """Tell whether all tests ran, and *failed*, the names of those that failed, are few and of the browser alone."""
    return code == SOME_FAILED and 0 < len(failed) <= MOST and all(name.startswith(FOLDER) for name in failed)


def run_pytest(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
