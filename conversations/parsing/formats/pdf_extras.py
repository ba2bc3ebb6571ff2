"""PDF beside the text of its pages: remarks on them, forms that were filled in, and pictures.

Damaged parts are passed over: they do not affect the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec

from pypdf import PageObject, PdfReader
from pypdf.errors import LimitReachedError, PyPdfError
from pypdf.generic import IndirectObject

DAMAGE = (PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)
# The words of a link or a field are on the page, and a window that pops up has those of the remark it belongs to.
WITHOUT_WORDS = ("/Link", "/Widget", "/Popup")
UNSEEN = 2 | 32  # flags of what no viewer shows: ISO 32000-1, 12.5.3
PASSWORD = 1 << 13  # flag of a field: 12.7.4.3

P = ParamSpec("P")


def _skip_damage(read: Callable[P, Iterator[str]]) -> Callable[P, list[str]]:
    @wraps(read)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> list[str]:
        found: list[str] = []
        try:
            found.extend(read(*args, **kwargs))
        except LimitReachedError:
            raise
        except DAMAGE:
            pass
        return found

    return wrapper


@_skip_damage
def remarks_on(page: PageObject) -> Iterator[str]:
    """Return the remarks that people have made on a page. Hidden ones are left out: the user would never see them."""
    for reference in page.annotations or ():
        remark: Any = reference.get_object()
        if remark.get("/Subtype") not in WITHOUT_WORDS and not (_resolve(remark, "/F") or 0) & UNSEEN:
            text = _resolve(remark, "/Contents")
            if isinstance(text, str) and text.strip():
                yield text.strip()


def _resolve(stored: Any, name: str) -> Any:
    """Return the value under *name*, resolved if it is a reference, or None."""
    value = stored.get(name)
    return value.get_object() if isinstance(value, IndirectObject) else value


@_skip_damage
def filled_fields(reader: PdfReader) -> Iterator[str]:
    """Return the fields of a form that have a value, as `name: value`; none whose value is hidden from the user."""
    for name, field in (reader.get_fields() or {}).items():
        value = field.get("/V")
        if isinstance(value, str) and value.strip() and value != "/Off" and not _is_unseen(field):
            yield f"{name}: {value.removeprefix('/').strip()}"


def _is_unseen(field: Any) -> bool:
    """Tell whether a field is for a password, or hidden in each of its places."""
    stored: Any = field.indirect_reference.get_object() if field.indirect_reference else field
    places = [reference.get_object() for reference in _resolve(stored, "/Kids") or ()] or [stored]
    return bool((field.get("/Ff") or 0) & PASSWORD) or all((_resolve(each, "/F") or 0) & UNSEEN for each in places)


@_skip_damage
def pictures_on(page: PageObject) -> Iterator[str]:
    """Return the ids of the pictures that a page shows: one that stands on many has the same on each."""
    resources: Any = page.get("/Resources")
    objects: Any = resources.get_object().get("/XObject") if resources else None
    for name, reference in (objects.get_object() if objects else {}).items():
        shown: Any = reference.get_object()
        if shown.get("/Subtype") == "/Image":
            yield str(reference.idnum) if isinstance(reference, IndirectObject) else f"{page.page_number} {name}"
