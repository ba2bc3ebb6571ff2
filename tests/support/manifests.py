"""What deploy/ says to Kubernetes and to compose, read as data."""

from __future__ import annotations

from typing import Any

import yaml

from .source import PROJECT

KUBERNETES = PROJECT / "deploy/kubernetes"
Manifest = dict[str, Any]


class _ComposeLoader(yaml.SafeLoader):
    """YAML with compose's tag `!reset`, which takes away what the file below says."""


_ComposeLoader.add_constructor("!reset", lambda loader, node: [])


def read_compose(name: str) -> Manifest:
    """Return a compose file; what it resets is empty."""
    with (PROJECT / name).open(encoding="utf-8") as file:
        content: Manifest = yaml.load(file, _ComposeLoader)
    return content


def read_manifests() -> list[Manifest]:
    """Return everything that Kubernetes is told, without what is for kustomize."""
    files = [path for path in sorted(KUBERNETES.rglob("*.yaml")) if path.name != "kustomization.yaml"]
    return [manifest for path in files for manifest in yaml.safe_load_all(path.read_text(encoding="utf-8"))]


def read_kustomizations() -> dict[str, Manifest]:
    """Return the kustomization of each folder, in the order of the steps."""
    names = ("settings", "migration", "site")
    return {name: yaml.safe_load((KUBERNETES / name / "kustomization.yaml").read_text("utf-8")) for name in names}


def only(kind: str, name: str) -> Manifest:
    """Return the one manifest of that kind and name."""
    [found] = [each for each in read_manifests() if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def pods() -> dict[str, Manifest]:
    """Return the template of each pod, by the name of what makes it."""
    makers = [manifest for manifest in read_manifests() if "template" in manifest.get("spec", {})]
    return {maker["metadata"]["name"]: maker["spec"]["template"] for maker in makers}


def container(pod: Manifest) -> Manifest:
    [found] = pod["spec"]["containers"]
    return found


def commands_of_pods() -> set[tuple[str, ...]]:
    """Return what the containers start, and what their probes do in them."""
    every = [container(pod) for pod in pods().values()]
    probes = [each[name]["exec"] for each in every for name in each if name.endswith("Probe") and "exec" in each[name]]
    return {tuple(each["command"]) for each in [*every, *probes]}
