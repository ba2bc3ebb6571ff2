"""What a tool returned, as the text that a language model gets."""

from __future__ import annotations

from typing import Any, Final

from pydantic_core import to_json

NOTHING: Final = "done"


def as_text(value: Any) -> str:
    """Return a text as it is, anything else as JSON; what JSON has no form for as Python writes it."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return str(value)
    return to_json(value, fallback=str, bytes_mode="base64", inf_nan_mode="constants").decode()
