"""HTML that was made lately, so that no page makes it again: bounded by the memory that it takes."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from threading import Lock

from django.utils.safestring import SafeString

from conversations import metrics

KEY_BYTES = 16
ENTRY_BYTES = 200  # of a key, and of what the dictionary holds for it


class HtmlCache:
    """The HTML that was asked for last, by all that it was made from, for several threads.

    At most *most_entries* are kept, and they take at most *most_bytes*: a thousand messages can take 2 MB or half a
    gigabyte. It is kept as UTF-8, which takes half of a text in which a single character is beyond Latin.
    """

    def __init__(self, *, most_entries: int, most_bytes: int) -> None:
        self._most_entries, self._most_bytes = most_entries, most_bytes
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()

    def get(self, made_from: object, make: Callable[[], str]) -> SafeString:
        """Return what *make* returns, or returned before for the same *made_from*.

        Things are the same if their `repr` is: it has to say all of their values.
        """
        key = blake2b(repr(made_from).encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
        with self._lock:
            if (html := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return SafeString(html.decode("utf-8", "surrogatepass"))
        made = make()
        with self._lock:
            self._keep(key, made.encode("utf-8", "surrogatepass"))
        return SafeString(made)

    def _keep(self, key: bytes, html: bytes) -> None:
        if key in self._kept:  # by another thread meanwhile
            return
        before = self._kept_bytes
        self._kept[key] = html
        self._kept_bytes += _bytes_of(html)
        while self._kept_bytes > self._most_bytes or len(self._kept) > self._most_entries:
            self._kept_bytes -= _bytes_of(self._kept.popitem(last=False)[1])
        metrics.html_cache_bytes.inc(self._kept_bytes - before)


def _bytes_of(html: bytes) -> int:
    return ENTRY_BYTES + sys.getsizeof(html)
