"""Messages that earlier pages of a search have shown, as a short word for an address. Ids of messages, not their words.

A letter for the kind, then the differences between the sorted ids, seven bits a byte, in Base64 for addresses.
"""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

MOST_SHOWN = 1_000
MOST_CHARACTERS = 8_000
LARGEST_ID = 2**63 - 1
EXACT, TYPOS = "w", "t"


class ShownHits(NamedTuple):
    """*have_typos* says that they were found by words one letter away from those that were typed."""

    messages: frozenset[int] = frozenset()
    have_typos: bool = False


def write_shown(shown: ShownHits) -> str:
    """Return *shown* for an address."""
    ids = [0, *sorted(shown.messages)]
    packed = b"".join(_pack(after - before) for before, after in pairwise(ids))
    return (TYPOS if shown.have_typos else EXACT) + urlsafe_b64encode(packed).rstrip(b"=").decode()


def read_shown(written: str) -> ShownHits:
    """Return what `write_shown` wrote. Raises `ValueError` for anything else."""
    kind, packed = written[:1], written[1:]
    if kind not in (EXACT, TYPOS) or not packed.isascii() or len(packed) > MOST_CHARACTERS:
        raise ValueError("not written by write_shown")
    shown: list[int] = []
    for difference in _unpack(b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)):
        shown.append(difference + (shown[-1] if shown else 0))
    if len(shown) > MOST_SHOWN or (shown and shown[-1] > LARGEST_ID):
        raise ValueError("too many, or no ids")
    return ShownHits(frozenset(shown), kind == TYPOS)


def _pack(number: int) -> bytes:
    packed = bytearray()
    while number > 0x7F:
        packed.append(number & 0x7F | 0x80)
        number >>= 7
    packed.append(number)
    return bytes(packed)


def _unpack(packed: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            yield number
            number = shift = 0
    if shift:
        raise ValueError("ends in the middle of a number")
