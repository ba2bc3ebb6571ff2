"""A lock installs the same files everywhere: each by version and hash, from whatever index a machine has.

requirements.lock is for the site and its developers; requirements-bench.lock goes on top, for one benchmark;
package-lock.json is for the tools that check the JavaScript.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import tomllib
from itertools import product

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.support.source import PROJECT

LOCKS = {
    name: (PROJECT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "requirements-bench.lock")
}
HASHED_ENTRY = re.compile(r"^([a-z0-9][\w.-]*)==(\S+)(?:.*\\\n.*--hash=sha256:[0-9a-f]{64})+", flags=re.MULTILINE)


def versions(lock: str) -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in HASHED_ENTRY.findall(LOCKS[lock])}


PINNED = set(versions("requirements.lock"))
PYTHONS = ["3.11.0", "3.11.2", "3.12.0", "3.13.0", "3.14.0"]  # 3.11.2 is Debian 12's
MACHINES = [("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64")]


def marker_environment(python: str, machine: tuple[str, str, str]) -> dict[str, str]:
    sys_platform, platform_system, platform_machine = machine
    return {
        "python_version": python.rpartition(".")[0],
        "python_full_version": python,
        "sys_platform": sys_platform,
        "platform_system": platform_system,
        "platform_machine": platform_machine,
        "extra": "",
    }


def locked_distributions() -> list[importlib.metadata.Distribution]:
    return [found for found in importlib.metadata.distributions() if canonicalize_name(found.name) in PINNED]


def needed(python: str, machine: tuple[str, str, str]) -> set[str]:
    """Return what the locked packages need on such a machine."""
    environment = marker_environment(python, machine)
    wanted = [Requirement(text) for found in locked_distributions() for text in found.requires or ()]
    return {canonicalize_name(r.name) for r in wanted if r.marker is None or r.marker.evaluate(environment)}


@pytest.mark.parametrize("python", PYTHONS)
def test_every_locked_package_takes_each_python(python):
    takes = {found.name: found.metadata["Requires-Python"] or "" for found in locked_distributions()}
    assert takes
    assert [name for name, pythons in takes.items() if not SpecifierSet(pythons).contains(python)] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_has_a_hash(lock):
    assert len(versions(lock)) == len(re.findall(r"==", LOCKS[lock])) > 20


def test_every_tool_for_javascript_has_an_exact_version_a_hash_and_no_place_to_install_from():
    project = json.loads((PROJECT / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((PROJECT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    tools = {path.removeprefix("node_modules/"): entry for path, entry in locked.items() if path}
    assert {name: tools[name]["version"] for name in project["devDependencies"]} == project["devDependencies"]
    assert all(entry["integrity"].startswith("sha512-") and "resolved" not in entry for entry in tools.values())


@pytest.mark.parametrize("lock", LOCKS)
def test_it_names_no_place_to_install_from(lock):
    assert not re.search(r"://|^-|--(index|find|extra|trusted)|\.\.?/", LOCKS[lock], flags=re.MULTILINE)


@pytest.mark.parametrize(("python", "machine"), list(product(PYTHONS, MACHINES)))
def test_it_is_complete_on_every_machine_that_we_promise(python, machine):
    assert needed(python, machine) <= PINNED


def test_every_dependency_of_the_project_is_in_it():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    assert {canonicalize_name(Requirement(text).name) for text in wanted} <= PINNED


def test_the_peers_of_a_benchmark_are_in_a_lock_of_their_own():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    peers = {canonicalize_name(Requirement(text).name) for text in project["optional-dependencies"]["bench"]}
    assert peers <= set(versions("requirements-bench.lock")) - PINNED


def test_installing_the_peers_changes_no_version_of_ours():
    ours = versions("requirements.lock")
    theirs = versions("requirements-bench.lock")
    assert all(theirs[name] == ours[name] for name in theirs.keys() & ours.keys())
