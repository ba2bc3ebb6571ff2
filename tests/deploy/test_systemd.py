"""The systemd units of deploy/: systemd understands them, finds little that they leave open, and they fit the site."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

from conversations.management.commands.run_worker import STOPPING_SECONDS as WORKER_STOPPING_SECONDS
from conversations.management.commands.serve import MARGIN_SECONDS, STOPPING_SECONDS
from tests.support.source import PROJECT

UNITS = PROJECT / "deploy/systemd"
SERVICES = ["windowseat-web", "windowseat-worker", "windowseat-backup"]
MOST_EXPOSED = 20  # of 100, as `systemd-analyze security` counts; a unit that says nothing has 96
OF_A_CHECKOUT = re.compile(r"^ExecStart=/opt/windowseat/\.venv/bin/python manage\.py (.+)$", re.MULTILINE)
OF_THE_PACKAGE = re.compile(
    r"^# Of the installed package.*ExecStart=/opt/windowseat/bin/windowseat (.+)$", re.MULTILINE
)


def read(service: str) -> str:
    return (UNITS / f"{service}.service").read_text(encoding="utf-8")


def seconds_to_stop(service: str) -> int:
    return int(re.findall(r"^TimeoutStopSec=(\d+)$", read(service), re.MULTILINE)[0])


@pytest.fixture
def units(tmp_path: Path) -> list[str]:
    """The units with the Python and the folder of this machine, for systemd looks whether what they start is there.

    Links stand for both: a blank in a path would end it.
    """
    python, checkout, folder = (tmp_path / name for name in ("python", "checkout", "units"))
    python.symlink_to(sys.executable)
    checkout.symlink_to(PROJECT)
    folder.mkdir()
    for unit in UNITS.glob("*.*"):
        here = unit.read_text(encoding="utf-8").replace("/opt/windowseat/.venv/bin/python", str(python))
        (folder / unit.name).write_text(here.replace("/opt/windowseat", str(checkout)), encoding="utf-8")
    return sorted(str(unit) for unit in folder.iterdir())


@pytest.mark.systemd
def test_systemd_understands_every_line(units):
    assert len(units) == len(SERVICES) + 1
    ran = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
    ours = [line for line in ran.stderr.splitlines() if "windowseat" in line or "Unknown" in line]
    assert (ran.returncode, ours) == (0, [])


@pytest.mark.systemd
def test_systemd_finds_little_that_they_leave_open(units):
    services = [unit for unit in units if unit.endswith(".service")]
    command = ["systemd-analyze", "security", "--offline=yes", f"--threshold={MOST_EXPOSED}", "--no-pager", *services]
    ran = subprocess.run(command, capture_output=True, text=True)
    found = re.findall(r"Overall exposure level for (\S+): (\S+)", ran.stdout)
    assert len(found) == len(services), ran.stderr
    assert ran.returncode == 0, found


@pytest.mark.parametrize("service", SERVICES)
def test_what_they_start_is_a_command_of_a_checkout_and_of_the_package_alike(service):
    [of_a_checkout], [of_the_package] = (pattern.findall(read(service)) for pattern in (OF_A_CHECKOUT, OF_THE_PACKAGE))
    assert of_a_checkout.split()[0] in get_commands()
    assert ["serve" if word == "run" else word for word in of_the_package.split()] == of_a_checkout.split()


def test_they_are_killed_only_after_what_is_running_may_have_ended():
    assert seconds_to_stop("windowseat-web") > STOPPING_SECONDS + MARGIN_SECONDS
    assert seconds_to_stop("windowseat-worker") > WORKER_STOPPING_SECONDS + MARGIN_SECONDS


@pytest.mark.parametrize("service", SERVICES[:2])
def test_a_parser_may_lock_itself_in_and_dies_alone(service):
    """Landlock, seccomp and a network of its own, as `conversations/parsing/sandbox` asks for them."""
    unit = read(service)
    assert re.search(r"^RestrictNamespaces=user net$", unit, re.MULTILINE)
    allowed = " ".join(re.findall(r"^SystemCallFilter=(.+)$", unit, re.MULTILINE)).split()
    assert {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"} <= set(allowed)
    assert "OOMPolicy=continue" in unit


def test_a_command_has_the_settings_and_secrets_of_the_units():
    command = (UNITS / "windowseat-command").read_text(encoding="utf-8")
    assert subprocess.run(["sh", "-n", UNITS / "windowseat-command"]).returncode == 0
    unit = read("windowseat-web")
    names = "EnvironmentFile|LoadCredential|UMask|StateDirectory|StateDirectoryMode"
    handed = re.findall(rf"^((?:{names})=.+)$", unit, re.MULTILINE)
    assert len(handed) == 6
    assert [line for line in handed if f"--property={line} " not in command] == []
    folders = re.findall(r"^Environment=.*(VAR_DIR=\S+)", unit, re.MULTILINE)
    folders += re.findall(r"^Environment=.*(BACKUP_FOLDER=\S+)", read("windowseat-backup"), re.MULTILINE)
    assert len(folders) == 2
    assert [line for line in folders if f"--setenv={line} " not in command] == []
    of_secrets = re.findall(r"(\w+_FILE)=%d/(\w+)", unit)
    assert re.findall(r'(\w+_FILE)="\$CREDENTIALS_DIRECTORY/(\w+)"', command) == of_secrets


def test_an_operator_copies_all_files_by_the_words_of_the_document():
    document = (PROJECT / "docs/operate/deployment.md").read_text(encoding="utf-8")
    copied = re.findall(r"deploy/systemd/([\w.*-]+) ", document.partition("## systemd")[2].partition("## ")[0])
    assert {file.name for pattern in copied for file in UNITS.glob(pattern)} == {file.name for file in UNITS.iterdir()}
