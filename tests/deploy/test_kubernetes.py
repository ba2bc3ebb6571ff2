"""The manifests of deploy/kubernetes fit the site: its settings and commands, how long it drains, what it reaches."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.core.management import get_commands

from chatsite.middleware.health import LIVENESS, READINESS
from conversations.management.commands.run_worker import STOPPING_SECONDS as WORKER_STOPPING_SECONDS
from conversations.management.commands.serve import MARGIN_SECONDS, STOPPING_SECONDS
from tests.support.manifests import (
    KUBERNETES,
    commands_of_pods,
    container,
    only,
    pods,
    read_compose,
    read_kustomizations,
    read_manifests,
)
from tests.support.source import PROJECT

PODS = pods()
SETTINGS = only("ConfigMap", "windowseat")["data"]
DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8")


def test_each_file_belongs_to_the_kustomization_beside_it():
    for name, kustomization in read_kustomizations().items():
        there = {path.name for path in (KUBERNETES / name).glob("*.yaml")} - {"kustomization.yaml"}
        assert set(kustomization["resources"]) == there
        assert kustomization["namespace"] == only("Namespace", "windowseat")["metadata"]["name"]


def test_the_job_and_the_site_are_of_the_same_version():
    kustomizations = read_kustomizations()
    assert kustomizations["migration"]["images"] == kustomizations["site"]["images"]
    assert {container(pod)["image"] for pod in PODS.values()} == {kustomizations["site"]["images"][0]["name"]}


def test_every_setting_is_one():
    names = set(SETTINGS) | {each["name"] for pod in PODS.values() for each in container(pod).get("env", ())}
    assert {name.removesuffix("_FILE") for name in names} <= set(settings.ENV.declared)


def test_every_secret_is_read_from_a_file_of_the_secret_that_is_mounted():
    for name, value in SETTINGS.items():
        if name.endswith("_FILE"):
            assert value == f"/run/secrets/windowseat/{name.removesuffix('_FILE')}"
    for pod in PODS.values():
        mounted = {each["name"]: each["mountPath"] for each in container(pod)["volumeMounts"]}
        assert mounted == {"secrets": "/run/secrets/windowseat", "var": SETTINGS["VAR_DIR"], "tmp": "/tmp"}
        [secret] = [volume["secret"] for volume in pod["spec"]["volumes"] if "secret" in volume]
        assert secret["secretName"] == "windowseat"


@pytest.mark.parametrize("name", PODS)
def test_a_pod_is_no_root_and_writes_to_what_is_named_alone(name):
    spec, made = PODS[name]["spec"], container(PODS[name])
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert f"--uid {spec['securityContext']['runAsUser']} " in DOCKERFILE
    assert made["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"cpu", "memory"} <= set(made["resources"]["requests"])
    assert "memory" in made["resources"]["limits"]


def test_pods_are_ended_only_after_what_is_running_may_have_ended():
    web, worker = PODS["windowseat-web"], PODS["windowseat-worker"]
    _, pause = container(web)["lifecycle"]["preStop"]["exec"]["command"]
    assert web["spec"]["terminationGracePeriodSeconds"] > int(pause) + STOPPING_SECONDS + MARGIN_SECONDS
    assert worker["spec"]["terminationGracePeriodSeconds"] > WORKER_STOPPING_SECONDS + MARGIN_SECONDS


def test_a_web_process_is_asked_for_its_health_where_it_tells():
    web = container(PODS["windowseat-web"])
    asked = {name: web[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert asked["startupProbe"] == asked["livenessProbe"] in LIVENESS
    assert asked["readinessProbe"] == READINESS
    [port] = web["ports"]
    assert str(port["containerPort"]) == SETTINGS["PORT"]


def test_a_worker_is_asked_by_the_command_that_compose_uses():
    compose = read_compose("compose.yaml")["services"]["worker"]["healthcheck"]["test"]
    assert container(PODS["windowseat-worker"])["livenessProbe"]["exec"]["command"] == compose[1:]


def test_what_is_started_are_commands_of_the_site():
    assert {command[:2] for command in commands_of_pods()} == {("python", "manage.py")}
    assert {command[2] for command in commands_of_pods()} <= set(get_commands())


@pytest.mark.parametrize("component", ["web", "worker"])
def test_an_eviction_takes_one_pod_at_a_time_and_an_update_none_before_another_is_ready(component):
    deployment = only("Deployment", f"windowseat-{component}")
    budget = only("PodDisruptionBudget", f"windowseat-{component}")
    assert budget["spec"]["selector"] == deployment["spec"]["selector"]
    assert (
        deployment["spec"]["selector"]["matchLabels"].items()
        <= PODS[f"windowseat-{component}"]["metadata"]["labels"].items()
    )
    assert budget["spec"]["maxUnavailable"] == 1 < deployment["spec"]["replicas"]
    assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}


def test_the_ingress_leads_to_the_web_processes_of_the_sites_own_name():
    ingress, service = only("Ingress", "windowseat")["spec"], only("Service", "windowseat-web")["spec"]
    [rule] = ingress["rules"]
    [path] = rule["http"]["paths"]
    assert f"https://{rule['host']}" == SETTINGS["SITE_URL"]
    assert path["backend"]["service"] == {"name": "windowseat-web", "port": {"name": service["ports"][0]["name"]}}
    assert service["selector"] == PODS["windowseat-web"]["metadata"]["labels"]


def test_nothing_is_reached_but_names_the_database_redis_and_what_is_public():
    policies = {each["metadata"]["name"]: each["spec"] for each in read_manifests() if each["kind"] == "NetworkPolicy"}
    assert policies["nothing"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    ports = [{port["port"] for port in rule["ports"]} for rule in policies["windowseat-asks"]["egress"]]
    assert ports == [{53}, {5432}, {6379}, {443, 465, 587}]
    [outside] = [rule["to"] for rule in policies["windowseat-asks"]["egress"] if "ipBlock" in rule["to"][0]]
    assert all(block["ipBlock"]["except"] for block in outside)
    reached = [rule for policy in policies.values() for rule in policy.get("ingress", ())]
    assert all(re.search("ingress|monitoring", str(source)) for rule in reached for source in rule["from"])
