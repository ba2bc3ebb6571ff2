"""What `make release` builds: the same bytes each time, all files and none too many, and a wheel that starts a site."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.request
import venv
import zipfile
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from urllib.parse import urljoin

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from chatsite.configuration import typeface
from tests.release.build import SUMS, build_release
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.site_process import read_banner
from tests.support.source import PROJECT

BUILD = "import sys, pathlib, tests.release.build as b; b.build_release(*map(pathlib.Path, sys.argv[1:]))"
IN_THE_WHEEL = {"chatsite": "chatsite", "conversations": "conversations"} | {
    name: f"chatsite/assets/{name}" for name in ("templates", "static")
}


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    build_release(PROJECT, folder)
    return folder


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads(committed("pyproject.toml"))["project"]


def committed(name: str) -> str:
    return subprocess.run(
        ["git", "show", f"HEAD:{name}"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout


def committed_files() -> set[str]:
    command = ["git", "ls-tree", "-r", "-z", "--name-only", "HEAD"]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    return set(listed.stdout.split("\0")) - {""}


def only(folder: Path, pattern: str) -> Path:
    [found] = folder.glob(pattern)
    return found


def contents(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def needed_here(project: dict) -> set[str]:
    """Return what the dependencies lead to on this machine, by the metadata of what is installed."""
    found, waiting = set(), [Requirement(text) for text in project["dependencies"]]
    while waiting:
        wanted = waiting.pop()
        extras = ["", *sorted(wanted.extras)]
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        for text in metadata.requires(wanted.name) or ():
            inner = Requirement(text)
            key = (canonicalize_name(inner.name), *sorted(inner.extras))
            if key not in found and (
                inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras)
            ):
                found.add(key)
                inner.marker = None
                waiting.append(inner)
    return {name for name, *_ in found} | {canonicalize_name(Requirement(t).name) for t in project["dependencies"]}


def test_it_is_the_same_to_the_byte_elsewhere_and_takes_the_place_of_the_one_before(release, tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "windowseat-0.9.0.tar.gz").touch()
    (folder / "notes.txt").touch()
    elsewhere = {**os.environ, "TZ": "Pacific/Auckland", "PYTHONHASHSEED": "1", "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", BUILD, PROJECT, folder], cwd=PROJECT, env=elsewhere, umask=0o077, check=True)
    (folder / "notes.txt").unlink()  # which is none of a release
    assert contents(folder) == contents(release)
    assert len(contents(release)) == 5


def test_the_wheel_holds_all_of_the_product_and_no_tests(release):
    expected = {
        name.replace(top, IN_THE_WHEEL[top], 1)
        for name in committed_files()
        if (top := name.split("/")[0]) in IN_THE_WHEEL
    }
    with zipfile.ZipFile(only(release, "*.whl")) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == expected


def test_the_source_archive_holds_all_that_is_committed(release):
    with tarfile.open(only(release, "*.tar.gz")) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert names == committed_files() | {"PKG-INFO"}


def test_the_checksums_are_those_of_the_files(release):
    sums = contents(release)
    del sums[SUMS]
    assert (release / SUMS).read_text().splitlines() == [f"{sums[name]}  {name}" for name in sorted(sums)]


def test_the_exact_versions_are_within_the_ranges_and_complete(release, project):
    pins = dict(line.split("==") for line in only(release, "*-constraints.txt").read_text().splitlines())
    assert needed_here(project) <= set(pins)
    assert not {"pytest", "playwright", "ruff", "hatchling"} & set(pins)
    for wanted in map(Requirement, project["dependencies"]):
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)]), wanted


def test_the_bill_of_materials_has_version_licence_and_checksums_of_each_package(release, project):
    bill = only(release, "*.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None
    read = json.loads(bill)
    assert (read["metadata"]["component"]["name"], read["metadata"]["component"]["version"]) == (
        "windowseat",
        project["version"],
    )
    pins = dict(line.split("==") for line in only(release, "*-constraints.txt").read_text().splitlines())
    assert {part["name"]: part["version"] for part in read["components"]} == pins
    assert all(part["licenses"] and part["hashes"] for part in read["components"])
    needs = {entry["ref"].partition("@")[0]: entry.get("dependsOn", []) for entry in read["dependencies"]}
    assert f"pkg:pypi/django@{pins['django']}" in needs["pkg:pypi/windowseat"]
    assert f"pkg:pypi/sqlparse@{pins['sqlparse']}" in needs["pkg:pypi/django"]
    assert f"pkg:pypi/sqlparse@{pins['sqlparse']}" not in needs["pkg:pypi/windowseat"]


@pytest.fixture(scope="module")
def installed(release, tmp_path_factory) -> Path:
    """A virtual environment with the wheel. Its dependencies are those of the tests: without the checkout."""
    folder = tmp_path_factory.mktemp("installed") / "my site"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    packages = only(folder, "lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    wheel = only(release, "*.whl")
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(command, cwd=folder, check=True)
    return folder


def product_files(environment: Path) -> dict[Path, int]:
    packages = only(environment, "lib/python*/site-packages")
    files = [file for name in ("chatsite", "conversations") for file in (packages / name).rglob("*")]
    return {file: file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc"}


@contextmanager
def running(environment: Path, home: Path, port: int):
    """Run `windowseat run` from an empty folder, with nothing in its environment, and yield what it says."""
    here = home / "here"
    here.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [environment / "bin" / "windowseat", "run"],
        cwd=here,
        env={"HOME": str(home), "PATH": str(environment / "bin"), "PORT": str(port)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield read_banner(process)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert not list(here.iterdir())


def get(address: str) -> tuple[str, str]:
    with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as response:
        return response.headers["Content-Type"], response.read().decode()


def test_the_wheel_starts_a_site_that_keeps_data_and_settings_in_the_home(installed, tmp_path):
    before = product_files(installed)
    data = tmp_path / ".local" / "share" / "windowseat"
    data.mkdir(parents=True)
    (data / ".env").write_text("SITE_NAME=Harbour\n")
    if typeface.FOLDER.is_dir():  # to make the same again takes seconds
        shutil.copytree(typeface.FOLDER, data / "fonts")
    port = free_port()
    with running(installed, tmp_path, port) as banner:
        assert f"Harbour is ready: http://127.0.0.1:{port}" in banner
        assert f"Data are in {data}. Settings: {data / '.env'}" in banner
        assert "/first-admin/#" in banner
        assert get(f"http://127.0.0.1:{port}/readyz")[1].startswith("ready")
        page = get(f"http://127.0.0.1:{port}/accounts/login/")[1]
        sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
        assert sheets
        for sheet in sheets:
            kind, content = get(urljoin(f"http://127.0.0.1:{port}/", sheet))
            assert kind.startswith("text/css")
            assert content
    assert (data / "secret_key").is_file()
    assert (data / "postgres").is_dir()
    assert product_files(installed) == before


def test_the_installed_command_tells_version_commands_and_wrong_settings(installed, project, tmp_path):
    def windowseat(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {"HOME": str(tmp_path), "PATH": str(installed / "bin"), **settings}
        command = [installed / "bin" / "windowseat", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert windowseat("--version").stdout == f"Windowseat {project['version']}\n"
    assert windowseat().stdout.startswith("Windowseat: web chat")
    wrong = windowseat("run", PORT="many")
    assert wrong.returncode == 1
    assert re.fullmatch(r"A setting is wrong: PORT must be a whole number .*\n", wrong.stderr)
    relative = "from django.conf import settings; print(settings.VAR_DIR, settings.BACKUP_FOLDER)"
    shown = windowseat("shell", "-v0", "-c", relative, VAR_DIR="my data").stdout
    assert shown == f"{tmp_path}/my data {tmp_path}/my data/backups\n"
