"""The bill of materials (SBOM) of a release, in CycloneDX's JSON: packages with versions, licences and checksums."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from .locked_packages import LockedPackage


def describe_release(
    project: dict[str, Any], needed: list[LockedPackage], *, licences: Mapping[str, str], made: dt.datetime
) -> str:
    """Return the document on the release of *project* with the packages that it needs."""
    product = _component(project["name"], project["version"], project["license"], ComponentType.APPLICATION)
    components = {package.name: _described(package, licences.get(package.name, "")) for package in needed}
    bom = Bom(components=components.values(), serial_number=uuid5(NAMESPACE_URL, _fingerprint(project, needed)))
    bom.metadata.component, bom.metadata.timestamp = product, made
    direct = {package.name for package in needed if project["name"] in package.needed_by}
    bom.register_dependency(product, [components[name] for name in sorted(direct)])
    for name, component in components.items():
        bom.register_dependency(component, [components[p.name] for p in needed if name in p.needed_by])
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _described(package: LockedPackage, licence: str) -> Component:
    component = _component(package.name, package.version, licence, ComponentType.LIBRARY)
    component.hashes = [HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in package.sha256]
    return component


def _component(name: str, version: str, licence: str, kind: ComponentType) -> Component:
    url = PackageURL("pypi", None, name, version)
    licences = [LicenseFactory().make_from_string(licence)] if licence else []
    return Component(name=name, version=version, type=kind, bom_ref=url.to_string(), purl=url, licenses=licences)


def read_licences(document: str) -> dict[str, str]:
    """Return package → licence, an SPDX expression, of the table in docs/licences.md."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in document.splitlines() if line[:1] == "|"]
    return {row[0]: row[1] for row in rows[2:] if len(row) == 2}


def _fingerprint(project: dict[str, Any], needed: list[LockedPackage]) -> str:
    told = [project["name"], project["version"], *(digest for package in needed for digest in package.sha256)]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
