"""Font files with some of their letters, made by a process of its own: fontTools takes 13 MB that no request needs.

    python -m chatsite.configuration.font_subset < jobs

*jobs* is JSON, a list of [source, the letters as CSS writes them, the file to write].
"""

from __future__ import annotations

import json
import os
import sys
from io import BytesIO
from pathlib import Path

FEATURES = ("kern", "tnum")  # pairs of letters, and digits of one width for columns
NAMES_KEPT = (0, 1, 2, 3, 4, 5, 6, 13, 14)  # the copyright and the licence stay in the file


def subset_font(woff2: bytes, unicode_range: str) -> bytes:
    """Return the font with the letters of *unicode_range* (as CSS writes it) alone, as woff2."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    options = subset.Options()
    options.layout_features = list(FEATURES)
    options.name_IDs = list(NAMES_KEPT)
    options.hinting = False
    options.notdef_outline = True
    font = TTFont(BytesIO(woff2), recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=code_points(unicode_range))
    subsetter.subset(font)
    font.flavor = "woff2"
    written = BytesIO()
    font.save(written)
    return written.getvalue()


def code_points(unicode_range: str) -> set[int]:
    """Return the code points that CSS writes as `U+20-7E, U+A0`."""
    found: set[int] = set()
    for part in unicode_range.split(","):
        first, _, last = part.strip().removeprefix("U+").partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return found


def _write(file: Path, content: bytes) -> None:
    """At once: several processes may start at the same time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(file)


def main() -> None:
    for source, letters, file in json.load(sys.stdin):
        _write(Path(file), subset_font(Path(source).read_bytes(), letters))


if __name__ == "__main__":
    main()
