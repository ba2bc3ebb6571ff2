"""Texts that were rendered lately, so that no page renders them again: bounded by the memory that they take."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from django.utils.safestring import SafeString

Render = Callable[[str, int], SafeString]


class RenderedTexts:
    """The HTML that *render* has made of the texts that were asked for last, for several threads.

    At most *most_texts* are kept, and with their HTML they take at most *most_bytes*: a thousand messages can take 2 MB
    or half a gigabyte.
    """

    def __init__(self, render: Render, *, most_texts: int, most_bytes: int) -> None:
        self._render = render
        self._most_texts, self._most_bytes = most_texts, most_bytes
        self._kept: OrderedDict[tuple[str, int], SafeString] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()

    def get(self, content: str, passages: int) -> SafeString:
        """Return the HTML of *content*, which may cite so many *passages*."""
        key = (content, passages)
        with self._lock:
            if (html := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return html
        html = self._render(content, passages)
        with self._lock:
            self._keep(key, html)
        return html

    def _keep(self, key: tuple[str, int], html: SafeString) -> None:
        if key in self._kept:  # by another thread meanwhile
            return
        self._kept[key] = html
        self._kept_bytes += _bytes_of(key, html)
        while self._kept_bytes > self._most_bytes or len(self._kept) > self._most_texts:
            self._kept_bytes -= _bytes_of(*self._kept.popitem(last=False))


def _bytes_of(key: tuple[str, int], html: SafeString) -> int:
    return sys.getsizeof(key[0]) + sys.getsizeof(html)
