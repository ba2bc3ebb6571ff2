"""The container image is made by the steps that continuous integration takes; no container engine is needed to see."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.support.source import PROJECT

DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
CI = (PROJECT / ".ci/run").read_text(encoding="utf-8")
STAGES = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
COMPOSE = yaml.safe_load((PROJECT / "compose.yaml").read_text(encoding="utf-8"))


def copied() -> list[str]:
    """Return what the image takes from the checkout."""
    sources = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    return " ".join(sources).split()


def test_every_make_step_of_the_image_is_one_of_ci():
    steps = re.findall(r"RUN make (\w+)", DOCKERFILE)
    assert steps == ["production", "static"]
    assert all(re.search(rf"^ *make -C \"\$image\" {step}$", CI, flags=re.MULTILINE) for step in steps)


def test_nothing_is_installed_past_the_lock():
    assert "pip install" not in DOCKERFILE
    assert "--require-hashes" in (PROJECT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", copied())
def test_what_the_image_copies_is_there_and_is_sent_to_the_builder(name):
    assert (PROJECT / name).exists()
    assert f"!{name}" in (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()


def test_the_image_runs_as_an_ordinary_user_on_the_oldest_python_we_promise():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert all(stage.startswith("python:3.11-slim") for stage in STAGES)
    assert re.search(r"^USER windowseat$", STAGES[-1], flags=re.MULTILINE)


def test_the_image_says_whether_it_is_healthy():
    assert re.search(r"^HEALTHCHECK .*CMD", STAGES[-1], flags=re.MULTILINE)
    assert "/healthz" in STAGES[-1]


def test_compose_has_one_process_each_for_pages_replies_database_and_redis():
    assert set(COMPOSE["services"]) == {"app", "worker", "postgres", "redis"}
    assert COMPOSE["services"]["app"]["environment"]["RUN_WORKER"] == "off"
    assert COMPOSE["services"]["worker"]["command"][-1] == "run_worker"


def test_compose_asks_each_service_for_its_health():
    checks = {name: str(service.get("healthcheck", {}).get("test")) for name, service in COMPOSE["services"].items()}
    assert "worker_health" in checks["worker"]  # the image's own check is of pages
    assert "pg_isready" in checks["postgres"]
    assert "redis-cli ping" in checks["redis"]


def test_redis_has_a_password_that_the_site_gives():
    assert "requirepass" in str(COMPOSE["services"]["redis"]["command"])
    for name in ("app", "worker"):
        assert "redis://:${REDIS_PASSWORD" in COMPOSE["services"][name]["environment"]["REDIS_URL"]


def test_compose_refuses_to_start_without_its_secrets():
    whole = (PROJECT / "compose.yaml").read_text(encoding="utf-8")
    assert all(f"${{{name}:?" in whole for name in ("SITE_URL", "SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"))


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_a_container_writes_to_what_is_named_alone_and_can_gain_nothing(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["pids_limit"] > 0
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert "privileged" not in service


def test_database_and_redis_are_reached_from_the_site_alone():
    networks = {name: service["networks"] for name, service in COMPOSE["services"].items()}
    assert networks["postgres"] == networks["redis"] == ["back"]
    assert COMPOSE["networks"]["back"] == {"internal": True}
    assert not any("ports" in COMPOSE["services"][name] for name in ("postgres", "redis", "worker"))
    assert COMPOSE["services"]["app"]["ports"] == ["127.0.0.1:8000:8000"]
