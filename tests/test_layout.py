"""What stands at the top of the repository, and what may stand in no file of it."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.support.source import PROJECT

FIXED = {"manage.py", "pyproject.toml", "chatsite", "conversations", "templates", "static", "tests", "Dockerfile"}
USUAL = {
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "compose.yaml",
    "deploy",  # what operators put beside a site: files for proxies, systemd, Kubernetes, Prometheus
    "docs",
    "CONTRIBUTING.md",
    "SECURITY.md",
}
LOCKS = {"requirements.lock", "requirements-bench.lock", "package-lock.json"}
CHECKS_OF_JAVASCRIPT = {"package.json", "jsconfig.json", "biome.jsonc"}
FORBIDDEN = {
    "the host of a package registry": r"py[p]i\.org|python[h]osted\.org|registry\.np[m]js|deb\.deb[i]an\.org",
    "a reminder instead of the work": r"\b(TO[D]O|FIX[M]E|XX[X])\b",
    "something that looks like a provider's key": r"\bsk-[A-Za-z0-9]{20,}",
}


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (PROJECT / name).is_file()]


def test_the_top_of_the_repository_stays_small():
    tops = {name.split("/")[0] for name in tracked_files()}
    assert {top for top in tops if not top.startswith(".")} <= FIXED | USUAL | LOCKS | CHECKS_OF_JAVASCRIPT


@pytest.mark.parametrize(("what", "pattern"), FORBIDDEN.items())
def test_no_file_holds(what, pattern):
    found = [name for name in tracked_files() if re.search(pattern, read(name))]
    assert not found, f"{what}: {found}"


def read(name: str) -> str:
    """Return a file's text; of a picture nothing, in whose bytes any three letters may stand."""
    content = (PROJECT / name).read_bytes()
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")
