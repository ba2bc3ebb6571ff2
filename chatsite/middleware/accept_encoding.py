"""The content coding that a client prefers: `Accept-Encoding` (RFC 9110, section 12.5.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

IDENTITY = "identity"  # no coding at all
REFUSED = 0.0
UNNAMED_IDENTITY = 0.0001  # of identity where the header says nothing of it: acceptable, after all that is named
# A weight has at most three decimals. A member that is not of this form is refused rather than guessed.
MEMBER = re.compile(
    r"(?P<coding>[\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(?P<weight>0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?", re.IGNORECASE
)
ALIASES = {"x-gzip": "gzip"}


def choose_coding(accepted: str | None, offered: Sequence[str]) -> str:
    """Return one of the codings *offered*, the best of which is first, or `identity`, by the header *accepted*.

    What is named is preferred to what only `*` stands for: those who send it alone often decode nothing. Where all
    is refused, identity is sent all the same.
    """
    if accepted is None:
        return IDENTITY
    weights = read_weights(accepted)
    named = [coding for coding in (*offered, IDENTITY) if coding in weights]
    unnamed = [coding for coding in (IDENTITY, *offered) if coding not in weights]
    best = max((*named, *unnamed), key=lambda coding: _weigh(coding, weights))
    return best if _weigh(best, weights) > REFUSED else IDENTITY


def refuses_identity(accepted: str | None) -> bool:
    """Tell whether what is sent as it is can't be used."""
    return accepted is not None and _weigh(IDENTITY, read_weights(accepted)) == REFUSED


def read_weights(accepted: str) -> dict[str, float]:
    """Return the weight of each coding that the header names, from 0 (refused) to 1."""
    weights: dict[str, float] = {}
    for member in accepted.split(","):
        stripped = member.strip(" \t")
        if found := MEMBER.match(stripped):
            coding = found["coding"].lower()
            weight = float(found["weight"] or 1) if found.end() == len(stripped) else REFUSED
            weights[ALIASES.get(coding, coding)] = weight
    return weights


def _weigh(coding: str, weights: dict[str, float]) -> float:
    if coding in weights:
        return weights[coding]
    if "*" in weights:
        return weights["*"]
    return UNNAMED_IDENTITY if coding == IDENTITY else REFUSED
