"""What containers start is started once, in the copy of the checkout from which continuous integration made the image.

First the migration, then a web process and a worker, then what asks for their health; all by the words of the
manifests, of compose.yaml and of the Dockerfile, with the settings of the ConfigMap. The database is the embedded one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.manifests import commands_of_pods, container, only, pods, read_compose
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.ports import free_port
from tests.support.source import PROJECT

IMAGE = Path(os.environ["WINDOWSEAT_IMAGE"])
DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
SECRETS = "/run/secrets/windowseat"
ENDED = (0, -signal.SIGTERM)  # uvicorn sends itself the signal again, after all has ended
WITHOUT = {"DATABASE_URL_FILE", "REDIS_URL_FILE"}


def words_of(instruction: str) -> list[str]:
    """Return the words of CMD, or of the command of HEALTHCHECK."""
    [found] = re.findall(rf"^{instruction}.*?(\[.*\])$", DOCKERFILE.replace("\\\n", " "), re.MULTILINE)
    words: list[str] = json.loads(found)
    return words


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the manifests' containers, with secrets, data and a port of this machine."""
    folder = tmp_path_factory.mktemp("steps")
    (folder / "secrets").mkdir()
    told = {name: value for name, value in only("ConfigMap", "windowseat")["data"].items() if name not in WITHOUT}
    for name in told:
        if name.endswith("_FILE"):
            secret = folder / "secrets" / name.removesuffix("_FILE")
            secret.write_text("a-secret-of-fifty-characters-that-is-written-down-here")
    here = {name: value.replace(SECRETS, str(folder / "secrets")) for name, value in told.items()}
    path = f"{IMAGE}/.venv/bin:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder), **here, "VAR_DIR": str(folder / "var"), "PORT": str(free_port())}


def run(command: list[str], environment: dict[str, str]) -> None:
    ran = subprocess.run(command, cwd=IMAGE, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    """Run it until it says that it is ready; at the end it has to stop by itself when told to."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=IMAGE, env=environment, stdout=output, stderr=output)
    try:
        wait_for(lambda: "Stop it with" in log.read_text() or process.poll() is not None, f"{command} is ready")
        assert process.poll() is None, log.read_text()
        yield
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) in ENDED, log.read_text()
    finally:
        process.kill()
        process.wait()


def test_the_steps_of_a_deployment(environment, tmp_path):
    migration, web, worker = (
        container(pods()[name])["command"] for name in ("windowseat-migration", "windowseat-web", "windowseat-worker")
    )
    compose = read_compose("compose.yaml")["services"]
    alive = compose["worker"]["healthcheck"]["test"][1:]
    assert web == words_of("CMD")
    assert worker == compose["worker"]["command"]
    assert {tuple(each) for each in (migration, web, worker, alive)} == commands_of_pods()

    run(migration, environment)
    with running(web, environment, tmp_path / "web.log"), running(worker, environment, tmp_path / "worker.log"):
        run(words_of("HEALTHCHECK"), environment)
        run(alive, environment)
        for probe, answer in (("livenessProbe", "alive"), ("readinessProbe", "ready")):
            path = container(pods()["windowseat-web"])[probe]["httpGet"]["path"]
            with urllib.request.urlopen(f"http://127.0.0.1:{environment['PORT']}{path}") as said:
                assert said.read().decode().startswith(answer)
