"""What `windowseat` says and starts, and how commands are spelt to operators."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest
from django.core.management import get_commands

from chatsite import command_line
from chatsite.version import product_version
from tests.support.source import PROJECT


def windowseat(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chatsite", *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",), ("-h",)])
def test_without_a_command_it_says_which_matter(arguments):
    shown = windowseat(*arguments)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, command_line.HELP, "")


def test_every_command_that_it_names_exists():
    named = [line.split()[0] for line in command_line.HELP.splitlines() if line.startswith("  ")]
    assert {"run", "backup", "restore"} <= set(named)
    assert set(named) - {"help"} <= set(get_commands())


@pytest.mark.parametrize("word", ["--version", "version"])
@pytest.mark.parametrize("name", ["windowseat", "manage.py"])
def test_it_tells_its_version_and_not_that_of_django(name, word, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, word])
    command_line.main() if name == "windowseat" else command_line.run_command(sys.argv)
    assert capsys.readouterr().out == f"Windowseat {product_version()}\n"


def test_settings_of_another_project_do_not_count(monkeypatch):
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "shop.settings")
    shown = windowseat("help", "--commands")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "run_worker" in shown.stdout


def test_run_is_explained_under_its_own_name(monkeypatch, capsys):
    for line in ("run --help", "help run"):
        monkeypatch.setattr(sys, "argv", ["/bin/windowseat", *line.split()])
        with contextlib.suppress(SystemExit):
            command_line.main()
        shown = capsys.readouterr().out
        assert shown.startswith("usage: windowseat run ")
        assert "serve the site" in shown


def test_a_reader_that_has_had_enough_is_no_fault():
    command = [sys.executable, "-m", "chatsite", "doctor", "clocks", "settings"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as doctor:
        doctor.stdout.close()
        assert doctor.stderr.read() == ""


def test_commands_are_spelt_as_they_are_written_here(monkeypatch):
    assert command_line.spell_command("serve") == "make run"
    assert command_line.spell_command("restore", "my chats") == "manage.py restore 'my chats'"
    monkeypatch.setattr(command_line, "IS_CHECKOUT", False)
    assert command_line.spell_command("serve") == "windowseat run"
    assert command_line.spell_command("restore", "my chats") == "windowseat restore 'my chats'"
