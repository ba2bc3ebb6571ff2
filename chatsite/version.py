"""The version of the product, as `pyproject.toml` has it."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import metadata

from chatsite.folders import CODE, IS_CHECKOUT


@cache
def product_version() -> str:
    """Return the version, such as `1.0.0`."""
    if not IS_CHECKOUT:
        return metadata.version("windowseat")
    with (CODE / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])
