"""Build a release of a commit: of what git has of it, with its date in place of the clock, so that bytes are equal."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from .bill_of_materials import describe_release, read_licences
from .locked_packages import needed_packages, read_lock

SUMS = "SHA256SUMS"


def build_release(checkout: Path, folder: Path) -> list[Path]:
    """Build the last commit of *checkout* into *folder*, in place of an earlier release there. Returns the files."""
    committed = int(_git(checkout, "log", "-1", "--format=%ct"))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="windowseat-release-") as temporary:
        source, built = Path(temporary, "source"), Path(temporary, "built")
        export(checkout, source)
        _build_packages(source, built, committed)
        _write_lists(source, built, committed)
        _write_sums(built)
        for old in [*folder.glob("windowseat-*"), *folder.glob(SUMS)]:
            old.unlink()
        for file in built.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
    return sorted([*folder.glob("windowseat-*"), folder / SUMS])


def export(checkout: Path, folder: Path) -> None:
    """Write the files of the last commit of *checkout* into *folder*."""
    # The bytes that are committed, also where git writes other ends of lines into a checkout.
    archive = ["git", "-c", "core.autocrlf=false", "archive", "HEAD"]
    archived = subprocess.run(archive, cwd=checkout, stdout=subprocess.PIPE, check=True).stdout
    folder.mkdir()
    subprocess.run(["tar", "-x"], cwd=folder, input=archived, check=True)


def _build_packages(source: Path, folder: Path, committed: int) -> None:
    """Build wheel and source archive. hatchling sorts the files, and gives them one date, owner and kind of mode."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(committed)}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=True)


def _write_lists(source: Path, folder: Path, committed: int) -> None:
    """Write the exact versions that the release was tested with, for pip, and its bill of materials."""
    project = tomllib.loads(_read(source / "pyproject.toml"))["project"]
    needed = needed_packages(read_lock(_read(source / "requirements.lock")), project)
    licences = read_licences(_read(source / "docs" / "licences.md"))
    name = f"windowseat-{project['version']}"
    pins = "".join(f"{package.name}=={package.version}\n" for package in needed)
    (folder / f"{name}-constraints.txt").write_text(pins, encoding="utf-8")
    made = dt.datetime.fromtimestamp(committed, dt.UTC)
    bill = describe_release(project, needed, licences=licences, made=made)
    (folder / f"{name}.cdx.json").write_text(bill, encoding="utf-8")


def _write_sums(folder: Path) -> None:
    files = sorted(folder.iterdir())
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()
