"""`manage.py serve`, as a real process on an empty folder: what `make run` does on a fresh machine."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from tests.faults.databases import new_database
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.site_process import COMMAND, environment, serving
from tests.support.source import PROJECT

WORKER = [sys.executable, "manage.py", "run_worker"]


def refusal(command=COMMAND, **changes) -> str:
    """Return what the command says when it will not start."""
    outcome = subprocess.run(
        command,
        cwd=PROJECT,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert outcome.returncode == 1
    return outcome.stderr.strip()


def get(address: str) -> tuple[int, str]:
    with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as response:
        return response.status, response.read().decode()


def test_a_fresh_folder_becomes_a_site_with_a_link_for_its_first_admin(tmp_path):
    port = free_port()
    with serving(VAR_DIR=tmp_path / "var", PORT=port) as (_, banner):
        link = re.search(rf"http://127\.0\.0\.1:{port}/first-admin/#\S+", banner)
        assert link, banner
        assert get(link[0].partition("#")[0])[0] == 200
        assert get(f"http://127.0.0.1:{port}/readyz") == (200, "ready")


def test_the_first_start_alone_says_what_takes_long(tmp_path):
    said = []
    for _ in range(2):
        with serving(VAR_DIR=tmp_path / "var", PORT=free_port()) as (_, words):
            said.append(re.findall(r"^Making .*$", words, re.MULTILINE))
    assert said == [
        [
            f"Making the database in {tmp_path}/var/postgres: some seconds, this once.",
            "Making the tables of the database: some seconds, this once.",
        ],
        [],
    ]


def test_it_stops_when_it_is_told_to(tmp_path):
    with serving(VAR_DIR=tmp_path / "var", PORT=free_port()) as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_SECONDS) == 0


def test_a_taken_port_is_one_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refusal(VAR_DIR=tmp_path / "var", PORT=taken.getsockname()[1])
    assert re.fullmatch(r"CommandError: Port \d+ on 127\.0\.0\.1 is taken\. .*PORT=\d+ make run", said)


def test_a_data_folder_of_another_postgresql_is_one_sentence(tmp_path):
    data = tmp_path / "var" / "postgres"
    data.mkdir(parents=True, mode=0o700)
    (data / "PG_VERSION").write_text("12\n")
    said = refusal(VAR_DIR=tmp_path / "var", PORT=free_port())
    assert "Traceback" not in said
    assert len([line for line in said.splitlines() if "warning" not in line]) == 1
    assert str(data) in said


def test_a_database_that_was_changed_by_hand_is_one_sentence(postgres, template):
    with new_database(postgres, template=template.name) as database:
        database.rows("ALTER TABLE accounts_user DROP COLUMN role CASCADE")
        said = refusal(DATABASE_URL=database.url, PORT=free_port())
    assert re.fullmatch(
        r"CommandError: The database is not as its migrations .*: accounts_user has no column role\. .*", said
    )


def test_a_worker_says_in_one_sentence_that_the_database_does_not_answer():
    said = refusal(WORKER, DATABASE_URL=f"postgresql://windowseat@127.0.0.1:{free_port()}/none")
    assert re.fullmatch(r"CommandError: The database can't be used: .*", said), said


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            "ALTER TABLE accounts_user DROP COLUMN role CASCADE",
            "The database is not as .* no column role",
        ),
        (
            "DELETE FROM django_migrations WHERE app = 'accounts'",
            "The database is older than .*: 1 migration is not",
        ),
    ],
)
def test_a_worker_says_in_one_sentence_what_is_wrong_with_the_database(postgres, template, change, reason):
    with new_database(postgres, template=template.name) as database:
        database.rows(change)
        said = refusal(WORKER, DATABASE_URL=database.url)
    assert re.fullmatch(rf"CommandError: {reason}.*", said), said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PORT", "70000", "A setting is wrong: PORT must be a whole number from 1 to 65535."),
        ("PROCESSES", "3", "A setting is wrong: PROCESSES above 1 needs REDIS_URL"),
        ("PROCESSES", "9", "A setting is wrong: PROCESSES must be a whole number from 1 to 8."),
        ("SITE_URL", "ftp://x", "A setting is wrong: SITE_URL must be an address"),
        ("SITE_URL", "https://chat.example.org", "A setting is wrong: SECRET_KEY is required"),
    ],
)
def test_a_wrong_setting_is_one_sentence(tmp_path, name, value, said):
    shown = refusal(VAR_DIR=tmp_path / "var", **{name: value})
    assert shown.startswith(said)
    assert len(shown.splitlines()) == 1
