"""Licences of all packages that the site runs with: each is one that we take, and docs/licences.md lists it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.metadata import Distribution, PathDistribution, distribution

import pytest
from packaging.requirements import Requirement

from tests.support.source import PROJECT

TAKEN = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0"),
    *("MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib"),
    "LGPL-3.0-only",  # of libraries that are used as they are, and can be replaced
}
AS_METADATA_SAY = {
    "Apache 2": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Where metadata say nothing, or less than the package's own files, which were read.
READ = {
    "fido2": "BSD-2-Clause AND Apache-2.0 AND MPL-2.0",
    "pi-heif": "BSD-3-Clause AND LGPL-3.0-only",  # the wheels hold libheif and libde265
    "pyrage": "MIT",
    "qrcode": "BSD-3-Clause AND MIT",
    "tiktoken": "MIT",
    "uvloop": "MIT OR Apache-2.0",
}
GPL = "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"
HEADER = ["| Package | Licence |", "| --- | --- |"]


def name_of(package: Distribution) -> str:
    return re.sub(r"[-_.]+", "-", package.name).lower()


@cache
def run_time_packages() -> dict[str, Distribution]:
    """Return name → package of all that the site's own dependencies need here."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting = [Requirement(each) for each in project["dependencies"]]
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        extras = frozenset(wanted.extras)
        if (wanted.name.lower(), extras) in seen or not applies(wanted, frozenset([""])):
            continue
        seen.add((wanted.name.lower(), extras))
        package = distribution(wanted.name)
        found[name_of(package)] = package
        needed = [Requirement(each) for each in package.requires or []]
        waiting += [without_marker(each) for each in needed if applies(each, extras | {""})]
    return found


def applies(wanted: Requirement, extras: frozenset[str]) -> bool:
    return wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in extras)


def without_marker(wanted: Requirement) -> Requirement:
    wanted.marker = None
    return wanted


def licence_of(package: Distribution) -> str:
    """Return an SPDX expression; empty if the package says nothing that we know."""
    if known := READ.get(name_of(package)):
        return known
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    said = str(metadata.get("License") or "").strip()
    words = [word.strip() for word in re.split(r"\bOR\b", said)]
    classified = [each.rpartition(" :: ")[2] for each in metadata.get_all("Classifier") or [] if "License ::" in each]
    classified = [AS_METADATA_SAY.get(each, each) for each in classified if each != "OSI Approved"]
    if said and all(AS_METADATA_SAY.get(word, word) in TAKEN for word in words):
        named = [AS_METADATA_SAY.get(word, word) for word in words]
        contradicting = [each for each in classified if each not in TAKEN]
        return " AND ".join([" OR ".join(named), *contradicting])
    # Several may be a choice, or each of a part of the files: all have to be taken.
    return " AND ".join(classified)


def table() -> list[str]:
    rows = [f"| {name} | {licence_of(package)} |" for name, package in sorted(run_time_packages().items())]
    return HEADER + rows


def is_taken(expression: str) -> bool:
    """Tell whether every part of an SPDX expression is taken, or of alternatives one."""
    while inner := re.search(r"\(([^()]*)\)", expression):
        known = sorted(TAKEN)[0] if is_taken(inner[1]) else "not taken"
        expression = f"{expression[: inner.start()]}{known}{expression[inner.end() :]}"
    alternatives = [each.split(" AND ") for each in expression.split(" OR ")]
    return any(all(part.strip() in TAKEN for part in parts) for parts in alternatives)


def test_every_package_has_a_licence_that_we_take():
    refused = {name: licence_of(each) for name, each in run_time_packages().items() if not is_taken(licence_of(each))}
    assert not refused, "look at the licence, then add it to TAKEN, or take another package"


def test_a_licence_that_we_do_not_take_is_noticed():
    assert not is_taken("GPL-2.0-only")
    assert not is_taken("")
    assert is_taken("GPL-2.0-only OR MIT")
    assert not is_taken("GPL-2.0-only AND MIT")
    assert not is_taken("GPL-2.0-only AND (MIT OR Apache-2.0)")
    assert not is_taken("(MIT OR Apache-2.0) AND GPL-2.0-only")
    assert not is_taken("MIT AND (GPL-2.0-only OR (MIT AND GPL-3.0-only))")
    assert is_taken("MIT AND (GPL-2.0-only OR Apache-2.0)")


@pytest.mark.parametrize(
    "said",
    [
        ["Classifier: License :: OSI Approved :: MIT License", f"Classifier: {GPL}"],
        ["License: MIT", f"Classifier: {GPL}"],
        ["License: MIT", "License-Expression: MIT AND GPL-3.0-only"],
        ["License: see LICENSE", "Classifier: License :: OSI Approved"],
        [],
    ],
)
def test_no_field_of_a_package_hides_what_another_says(tmp_path, said):
    (tmp_path / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", "Name: sly", "Version: 1", *said, "", ""]))
    assert not is_taken(licence_of(PathDistribution(tmp_path)))


def test_the_list_in_the_documents_is_this_one():
    document = (PROJECT / "docs" / "licences.md").read_text(encoding="utf-8").splitlines()
    listed = [line for line in document if line.startswith("|")]
    assert listed[: len(table())] == table(), "\n".join(["docs/licences.md shall have:", *table()])
