"""The site of the documents, as `make docs` builds it: without a warning, whole, and asking no other host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source import PROJECT

LOADED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=["']([^"']+)""")
LOADED_BY_STYLES = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "-c", "docs", "-b", "html", ".", folder]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return folder


def test_it_is_built_as_make_docs_does():
    assert "-m sphinx --quiet --fail-on-warning -c docs -b html . dist/docs" in (PROJECT / "Makefile").read_text()


def test_every_document_is_a_page_of_it(built):
    documents = {path.relative_to(PROJECT).with_suffix("") for path in PROJECT.glob("docs/**/*.md")}
    assert documents == {path.relative_to(built).with_suffix("") for path in built.glob("docs/**/*.html")}


def test_every_document_is_in_a_list(built):
    """That of the index, or of its folder's README, which the index lists."""
    for document in PROJECT.glob("docs/**/*.md"):
        readme = document.parent / "README.md"
        listing = readme if readme.exists() and document != readme else PROJECT / "docs" / "index.md"
        if document == listing:
            continue
        page = (built / listing.relative_to(PROJECT).with_suffix(".html")).read_text(encoding="utf-8")
        name = document.relative_to(listing.parent).with_suffix(".html").as_posix()
        assert f'href="{name}"' in page, f"{name} is in no list of {listing.relative_to(PROJECT)}"


def test_none_of_its_pages_asks_another_host(built):
    pages = [page.read_text(encoding="utf-8") for page in built.rglob("*.html")]
    styles = [style.read_text(encoding="utf-8") for style in built.rglob("*.css")]
    asked = {address for page in pages for address in LOADED.findall(page)}
    asked |= {first or second for style in styles for first, second in LOADED_BY_STYLES.findall(style)}
    assert any(address.endswith("site.css") or "site.css?" in address for address in asked)
    assert not {address for address in asked if re.match(r"(?:https?:)?//", address)}
