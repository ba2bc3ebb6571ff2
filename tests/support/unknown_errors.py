"""An error that no `except` of the product names, where the answer of a provider is read."""

from __future__ import annotations

from typing import Any

import pytest


def raise_unknown_error(*arguments: Any, **named: Any) -> Any:
    raise BufferError("none of our code has thought of this")


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the names of the errors whose tracebacks were logged."""
    return [record.exc_info[0].__name__ for record in caplog.records if record.exc_info and record.exc_info[0]]
