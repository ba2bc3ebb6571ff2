"""`windowseat run`: `manage.py serve` under the name that it has where the package is installed."""

from __future__ import annotations

from .serve import Command

__all__ = ["Command"]
