"""The packages that the product needs to run, as requirements.lock pins them: without the developers' tools."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENTRY = re.compile(r"^(?P<name>[a-z0-9][\w.-]*)==(?P<version>[^\s;]+)(?P<rest>.*(?:\n[ #].*)*)", flags=re.MULTILINE)
NEEDED_BY = re.compile(r"#(?: via|  ) ([\w.-]+)")


@dataclass(frozen=True)
class LockedPackage:
    """A pinned package: SHA-256 of each of its files, and the names of the packages that it is there for."""

    name: str
    version: str
    sha256: tuple[str, ...]
    needed_by: frozenset[str]


def read_lock(lock: str) -> list[LockedPackage]:
    """Return the packages of a lock that pip-compile has written."""
    return [
        LockedPackage(
            canonicalize_name(entry["name"]),
            entry["version"],
            tuple(sorted(re.findall(r"--hash=sha256:([0-9a-f]{64})", entry["rest"]))),
            frozenset(map(canonicalize_name, NEEDED_BY.findall(entry["rest"]))),
        )
        for entry in ENTRY.finditer(lock)
    ]


def needed_packages(locked: list[LockedPackage], project: dict[str, Any]) -> list[LockedPackage]:
    """Return those that the dependencies of *project* lead to, by name; extras that only developers want included."""
    names = {canonicalize_name(Requirement(text).name) for text in project["dependencies"]}
    while found := {package.name for package in locked if package.needed_by & names} - names:
        names |= found
    return sorted((package for package in locked if package.name in names), key=lambda package: package.name)
