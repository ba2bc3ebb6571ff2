from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.postgres.processes import SeenServer, UserProcess
from tests.support.patience import wait_for

StartUser = Callable[..., UserProcess]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path that other accounts may pass through, unlike pytest's."""
    made = _passable_folder()
    yield made
    shutil.rmtree(made)


@pytest.fixture
def var_dir(folder: Path) -> Path:
    return folder / "var"


@pytest.fixture(scope="session")
def made_var_dir() -> Iterator[Path]:
    """A folder with a server's data, for tests that don't look at how it is made, which takes a second."""
    folder = _passable_folder()
    user = UserProcess(folder / "var")
    user.sql("SELECT 1")
    user.end()
    wait_for(SeenServer(folder / "var").is_gone)
    yield folder / "var"
    shutil.rmtree(folder)


@pytest.fixture
def server(var_dir: Path) -> SeenServer:
    return SeenServer(var_dir)


@pytest.fixture
def start_user(var_dir: Path) -> Iterator[StartUser]:
    """Start processes that use the database in `var_dir`; they and their server are gone after the test."""
    users: list[UserProcess] = []

    def start(**options: object) -> UserProcess:
        users.append(UserProcess(var_dir, **options))
        return users[-1]

    yield start
    for user in users:
        user.kill()
    wait_for(SeenServer(var_dir).is_gone)


def _passable_folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="seat-", dir="/tmp"))
    made.chmod(0o711)
    return made
