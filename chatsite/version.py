"""The version of the product, as `pyproject.toml` has it."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

PROJECT_FILE = Path(__file__).parent.parent / "pyproject.toml"


@cache
def product_version() -> str:
    """Return the version, such as `1.0.0`."""
    with PROJECT_FILE.open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])
