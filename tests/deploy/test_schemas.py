"""deploy/ and compose.yaml by the published schemas of Kubernetes and of compose: `make schemas` installs them.

They stand in `.schemas/`, apart from what the site and its tests need: those of Kubernetes take 108 MB.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.support.manifests import KUBERNETES, read_compose
from tests.support.source import PROJECT

VENV = PROJECT / ".schemas/venv"
VERSIONS = ["1.30", "1.37"]  # of Kubernetes; the newest, and one that managed clusters still have
COMPOSE_FILES = ["compose.yaml", "deploy/compose.caddy.yaml"]
KUSTOMIZATION = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}


def validate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(VENV / "bin/kubernetes-validate"), "--strict", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_knows_every_field(version):
    files = [path for path in sorted(KUBERNETES.rglob("*.yaml")) if path.name != "kustomization.yaml"]
    ran = validate("-k", version, *files)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_field_that_kubernetes_does_not_know_would_be_found(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text((KUBERNETES / "site/web.yaml").read_text("utf-8").replace("readOnlyRoot", "readonlyRoot"))
    assert validate(wrong).returncode != 0


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_compose_knows_every_field(name):
    [schema] = VENV.glob("lib/*/site-packages/check_jsonschema/builtin_schemas/vendor/compose-spec.json")
    jsonschema.validate(read_compose(name), json.loads(schema.read_text("utf-8")))


def test_every_kustomization_says_that_it_is_one():
    for path in KUBERNETES.rglob("kustomization.yaml"):
        assert yaml.safe_load(path.read_text("utf-8")).items() >= KUSTOMIZATION.items()
