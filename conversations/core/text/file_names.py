"""Clean the names of uploaded files, so that they can be stored, shown and downloaded."""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 255
LONGEST_ENDING = 20
NAMELESS = "document"
# Controls, lone surrogates and what ends a line; and what makes text run the other way, so that `gpj.exe` looks
# like a picture; and invisible characters.
UNFIT = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\u00ad\u115f\u1160\u180e\u200b\u2060-\u2065\u2800\u3164\uffa0\U000e0000-\U000e007f]"
)
LONGEST_TITLE = 80
LONGEST_BYTES = 190  # of the 255 that a part of a path may have; days and ids stand beside it
UNFIT_ANYWHERE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')  # in the name of a file, on some system
JOINERS = "\u200c\u200d"  # between letters of some languages; at the end of a name they join nothing


def clean_file_name(raw: str) -> str:
    """Return the last part of the path *raw*, which may be that of any system, without what no name should have.

    Never blank, and at most `LONGEST_NAME` characters: of a longer one the ending stays.
    """
    last = UNFIT.sub("", re.split(r"[/\\]", raw)[-1])
    name = " ".join(unicodedata.normalize("NFC", last).split()).strip(f". {JOINERS}")
    return _shortened(name) or NAMELESS


def fit_into_path(name: str, *, longest: int = LONGEST_TITLE) -> str:
    """Return *name* as a part of a path that every system can unpack, and that leads nowhere else; it may be blank."""
    clean = " ".join(UNFIT_ANYWHERE.sub(" ", UNFIT.sub("", name)).split())[:longest]
    return clean.encode()[:LONGEST_BYTES].decode(errors="ignore").strip(". ")


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    ending = name[name.rfind(".") :] if "." in name[-LONGEST_ENDING:] else ""
    return name[: LONGEST_NAME - len(ending)].rstrip(". ") + ending
