"""The entries of the list as HTML, each drawn once for all that it is made from: a page has up to 50 of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import lru_cache

from django.template.loader import render_to_string
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from conversations.models.conversation import UNTITLED

from .date_groups import Listed

ENTRIES_KEPT = 2_000  # by a process: 3 MB
ACTIVE_KINDS = ("awaiting", "writing")  # of which an entry says something


def draw_entries(listed: Sequence[Listed], *, kind: str, current: uuid.UUID | None) -> SafeString:
    """Draw the entries of a group of that *kind*, blank for one under a date, in the reader's language."""
    where, shown_kind = (get_language(), get_script_prefix()), kind if kind in ACTIVE_KINDS else ""
    drawn = [
        _draw(
            where,
            entry.public_id,
            entry.title,
            entry.last_active_at.isoformat(),
            kind=shown_kind,
            place=_place_of(entry) if kind else "",
            is_current=entry.public_id == current,
        )
        for entry in listed
    ]
    return SafeString(b"\n".join([*drawn, b""]).decode())


def _place_of(entry: Listed) -> str:
    """Return where it stands when it is neither awaiting approval nor writing, blank under its date."""
    if entry.archived:
        return "archived"
    if entry.starred:
        return "starred"
    return f"folder-{entry.folder_id}" if entry.folder_id else ""


@lru_cache(maxsize=ENTRIES_KEPT)
def _draw(
    where: tuple[str | None, str],
    public_id: uuid.UUID,
    title: str,
    last_active_at: str,
    *,
    kind: str,
    place: str,
    is_current: bool,
) -> bytes:
    """Return the HTML of an entry, for a language and a prefix of addresses; as bytes it takes half of the memory."""
    context = {
        "public_id": public_id,
        "title": title or gettext(UNTITLED),
        "last_active_at": last_active_at,
        "kind": kind,
        "place": place,
        "is_current": is_current,
    }
    return render_to_string("conversations/_entry.html", context).encode()
