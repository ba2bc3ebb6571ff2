"""Bundles: the scripts of a page as one file, and its style sheets as another, each also compressed.

A finder of static files: it makes them when they are first asked for, by `collectstatic` or a start, and keeps them in
`var/bundles` for the next start. A start serves them compressed as they are; `collectstatic` compresses its own copies.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.finders import BaseFinder
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage
from rcssmin import cssmin

from chatsite.configuration.module_bundle import bundle_modules
from chatsite.configuration.site import MADE_FILES_DIR

FOLDER = MADE_FILES_DIR / "bundles"
COMPRESSED = (".br", ".gz")
SCRIPTS = {
    "bundles/shell.js": "js/shell/shell.js",
    "bundles/page_parts.js": "js/shell/page_parts.js",
    "bundles/markdown.js": "js/markdown/markdown.js",
    "bundles/list_tools.js": "js/sidebar/list_tools.js",
    "bundles/large_picture.js": "js/messages/large_picture.js",
    "bundles/map.js": "js/map/map.js",
    "bundles/message_sheet.js": "js/messages/message_sheet.js",
    "bundles/citations.js": "js/messages/citations.js",
    "bundles/commands.js": "js/composer/commands.js",
    "bundles/dictation.js": "js/composer/dictation.js",
    "bundles/upload_queue.js": "js/documents/upload_queue.js",
    "bundles/plain_text.js": "js/shared/plain_text.js",
    "bundles/temporary_note.js": "js/composer/temporary_note.js",
    "bundles/tour.js": "js/composer/tour.js",
    "bundles/ratings.js": "js/messages/ratings.js",
    "bundles/search.js": "js/search/search.js",
    "bundles/read_aloud.js": "js/messages/read_aloud.js",
    "bundles/selected_text.js": "js/messages/selected_text.js",
}
HTMX = {"bundles/htmx.js": "django_htmx/htmx-2.min.js"}
STYLES: dict[str, tuple[str, ...]] = {
    "bundles/list_tools.css": ("css/list_tools.css",),
    "bundles/map.css": ("css/map.css",),
    "bundles/message_sheet.css": ("css/message_sheet.css",),
    "bundles/window.css": ("css/window.css",),
    "bundles/search.css": ("css/suggestion_list.css", "css/search.css"),
    "bundles/conversation.css": (
        "css/typeface.css",
        "css/tokens.css",
        "css/base.css",
        "css/conversation.css",
        "css/model.css",
        "css/sidebar.css",
        "css/messages.css",
        "css/actions.css",
        "css/line.css",
        "css/thinking.css",
        "css/tools.css",
        "css/composer.css",
        "css/meter.css",
        "css/documents.css",
        "css/citations.css",
        "css/pictures.css",
        "css/panel.css",
    ),
}


class BundleFinder(BaseFinder):
    """Finds `bundles/shell.js` and the like."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storage = BundleStorage()
        self.storages = {"": self.storage}  # servestatic names the places of all finders when a file is missing
        super().__init__(*args, **kwargs)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, *args: Any, find_all: bool = False, **kwargs: Any) -> Any:
        found = [str(self.storage.files[path])] if path.startswith("bundles/") and path in self.storage.files else []
        return found if find_all or not found else found[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        serves = settings.STATIC_ROOT is None
        return ((name, self.storage) for name in self.storage.files if serves or not name.endswith(COMPRESSED))


class BundleStorage(FileSystemStorage):
    """Files under names that are not those of their places. They are made when the first is asked for."""

    def __init__(self) -> None:
        super().__init__(location=FOLDER)
        self._files: Mapping[str, Path] | None = None

    @property
    def files(self) -> Mapping[str, Path]:
        if self._files is None:
            self._files = bundle_files()
        return self._files

    def path(self, name: str) -> str:
        return str(self.files[name])


def bundle_files() -> dict[str, Path]:
    """Return where each bundle is, by its path among the static files; make those that are not there yet.

    Raises `ImproperlyConfigured` if they can't be written.
    """
    contents = bundles()
    digest = hashlib.sha256(repr(sorted(contents.items())).encode()).hexdigest()[:16]
    files: dict[str, Path] = {}
    for name, content in contents.items():
        file = files[name] = FOLDER / digest / Path(name).name
        for suffix in COMPRESSED:
            files[name + suffix] = file.with_name(file.name + suffix)
        if not files[name + COMPRESSED[-1]].is_file():
            _make(file, content.encode())
    return files


def _make(file: Path, content: bytes) -> None:
    try:
        _write(file, content)
        _write(file.with_name(f"{file.name}.br"), brotli.compress(content))
        _write(file.with_name(f"{file.name}.gz"), gzip.compress(content, mtime=0))
    except OSError as error:
        raise ImproperlyConfigured(
            f"scripts and style sheets of the pages can't be written to {FOLDER} ({error.strerror}). Let this account "
            "write there, or set VAR_DIR to a folder where it may."
        ) from None


def bundles() -> dict[str, str]:
    """Return the content of each bundle by its path among the static files."""
    scripts = {name: bundle_modules(entry, _read) for name, entry in SCRIPTS.items()}
    styles = {name: cssmin("".join(map(_read, paths))) for name, paths in STYLES.items()}
    return scripts | styles | {name: _read(path) for name, path in HTMX.items()}


def _read(path: str) -> str:
    found = finders.find(path)
    if not found:
        raise FileNotFoundError(f"no static file {path}")
    return Path(found).read_text(encoding="utf-8")


def _write(file: Path, content: bytes) -> None:
    """At once: several processes may start at the same time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(file)
