"""The typeface of all pages: Inter's Latin letters, taken from the larger font files that django-unfold carries.

A finder of static files: it makes the files when they are first asked for, by `collectstatic` or a start, and keeps
them in `var/fonts` for the next start. `static/css/typeface.css` names them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata, resources
from itertools import product
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from chatsite.configuration.font_subset import FEATURES, NAMES_KEPT
from chatsite.configuration.site import MADE_FILES_DIR
from chatsite.folders import CODE

logger = logging.getLogger(__name__)

# Weights as CSS names them, and the files of django-unfold that have them.
WEIGHTS = {400: "Inter-Regular.woff2", 500: "Inter-Medium.woff2", 600: "Inter-SemiBold.woff2"}
# As in the `unicode-range` of each face. Browsers fetch a file only for a page that has one of its letters.
LETTERS = {
    "latin": (
        "U+20-7E, U+A0-FF, U+131, U+152-153, U+2C6, U+2DA, U+2DC, U+2010-2027, U+2030-203A, U+2044, U+20AC, U+2122, "
        "U+2190-2193, U+2212, U+2248, U+2260, U+2264-2265"
    ),
    "latin-ext": "U+100-130, U+132-151, U+154-17F, U+192, U+1CD-1DC, U+1E6-1E7, U+1FA-1FF, U+218-21B, U+1E80-1EF9",
}
FOLDER = MADE_FILES_DIR / "fonts"


class TypefaceFinder(BaseFinder):
    """Finds `fonts/inter-latin-400.woff2` and the like; without fontTools or a place to write, the larger files."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storage = TypefaceStorage(typeface_files())
        self.storages = {"": self.storage}  # servestatic names the places of all finders when a file is missing
        super().__init__(*args, **kwargs)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, *args: Any, find_all: bool = False, **kwargs: Any) -> Any:
        found = [str(self.storage.files[path])] if path in self.storage.files else []
        return found if find_all or not found else found[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        return ((name, self.storage) for name in self.storage.files)


class TypefaceStorage(FileSystemStorage):
    """Files under names that are not those of their places."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        super().__init__(location=FOLDER)
        self.files = files

    def path(self, name: str) -> str:
        return str(self.files[name])


def typeface_files() -> dict[str, Path]:
    """Return where each file is, by its path among the static files; make those that are not there yet."""
    sources = {weight: _carried_folder() / file for weight, file in WEIGHTS.items()}
    files: dict[str, Path] = {}
    missing: list[tuple[Path, str, Path]] = []
    try:
        folder = FOLDER / _fingerprint(sources.values())
        for letters, weight in product(LETTERS, WEIGHTS):
            file = files[f"fonts/inter-{letters}-{weight}.woff2"] = folder / f"{letters}-{weight}.woff2"
            if not file.is_file():
                missing.append((sources[weight], LETTERS[letters], file))
        if missing:
            _make(missing)
    except OSError as error:
        logger.warning("The font files are not made smaller, so pages fetch larger ones: %s", error)
        return {
            f"fonts/inter-{letters}-{weight}.woff2": sources[weight] for letters, weight in product(LETTERS, WEIGHTS)
        }
    return files


def _carried_folder() -> Path:
    return Path(str(resources.files("unfold"))) / "static/unfold/fonts/inter"


def _fingerprint(sources: Iterable[Path]) -> str:
    """Return a name that changes with everything that the files are made from."""
    rules = (LETTERS, FEATURES, NAMES_KEPT, metadata.version("fonttools"), metadata.version("brotli"))
    digest = hashlib.sha256(repr(rules).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _make(jobs: Sequence[tuple[Path, str, Path]]) -> None:
    """Write each file (source, letters, file) in a process of its own. Raises an `OSError` with its last words."""
    made = subprocess.run(  # our own program
        (sys.executable, "-P", "-B", "-m", "chatsite.configuration.font_subset"),
        input=json.dumps([[str(source), letters, str(file)] for source, letters, file in jobs]),
        env={"PYTHONPATH": str(CODE), "LC_ALL": "C.UTF-8"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise OSError(made.stderr.strip().rpartition("\n")[2] or f"exit code {made.returncode}")
