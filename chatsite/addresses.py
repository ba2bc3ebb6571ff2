"""Addresses with ids in them: composed, once Django has made one of that kind.

Django matches each address against its pattern and quotes it, which ends in the same way whatever the digits of a UUID
or of a number are.
"""

from __future__ import annotations

import uuid
from collections.abc import Hashable
from functools import lru_cache

from django.conf import settings
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse

MOST_KEPT = 1024  # a site has a few hundred addresses, below one prefix
NUMBER = 90817263540  # with digits that no other part of an address has


def address_of(name: str, *ids: object) -> str:
    """Return what `reverse` returns for a *name* and *ids*."""
    shape = shape_of(name, ids, get_script_prefix(), get_urlconf())
    return reverse(name, args=ids) if shape is None else shape % ids


def shape_of(name: str, ids: tuple[object, ...], prefix: str, urlconf: str | None) -> str | None:
    """Return the address with `%s` in the places of *ids*. None if they are no ids, or there is no such address.

    *prefix* and *urlconf* are what `get_script_prefix` and `get_urlconf` return: a page looks them up once for all of
    its addresses.
    """
    for each in ids:
        if type(each) is not uuid.UUID and (type(each) is not int or each < 0):
            return None
    return _find_shape(name, tuple(map(type, ids)), prefix, urlconf or settings.ROOT_URLCONF)


@lru_cache(maxsize=MOST_KEPT)
def _find_shape(name: str, kinds: tuple[type, ...], _prefix: str, _urlconf: Hashable) -> str | None:
    examples = [NUMBER + index if kind is int else uuid.uuid4() for index, kind in enumerate(kinds)]
    try:
        rest = reverse(name, args=examples).replace("%", "%%")
    except NoReverseMatch:
        return None
    shape = ""
    for example in map(str, examples):
        before, found, rest = rest.partition(example)
        if not found or example in rest:
            return None
        shape += f"{before}%s"
    return shape + rest
