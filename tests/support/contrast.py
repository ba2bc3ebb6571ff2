"""The contrast of two colours, as WCAG 2.2 defines it."""

from __future__ import annotations


def contrast(one: str, other: str) -> float:
    """Return the ratio, from 1 to 21, of two colours that are each six hexadecimal digits."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
