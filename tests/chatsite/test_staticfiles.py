"""Collected static files: hashed names, in the imports between our modules too."""

import re

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings

from conversations.templatetags.modules import module_script
from tests.support.source import PROJECT

IMPORT = re.compile(r"""^(?:import|export)\b[^"';(]*["'](\.[^"']+)["']""", re.MULTILINE)
HASHED = re.compile(r"\.[0-9a-f]{12}\.js$")


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """Return the folder that `make static` would fill. It takes seconds."""
    folder = tmp_path_factory.mktemp("static")
    storage = {"BACKEND": "chatsite.configuration.staticfiles.ModuleManifestStorage"}
    with override_settings(STATIC_ROOT=folder, STORAGES={**settings.STORAGES, "staticfiles": storage}):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield folder


def test_our_modules_import_each_other_by_hashed_names_that_are_there(collected):
    modules = [path for path in collected.glob("js/**/*.js") if HASHED.search(path.name)]
    wanted = [(path.parent / name) for path in modules for name in IMPORT.findall(path.read_text())]
    assert wanted
    assert all(HASHED.search(path.name) and path.is_file() for path in wanted)


def test_a_module_is_preloaded_from_the_address_that_it_is_imported_from(collected):
    """Otherwise a page would fetch it twice."""
    addresses = re.findall(r'(?:href|src)="/static/([^"]+)"', module_script("js/shell/shell.js"))
    named = {(collected / address).resolve() for address in addresses}
    wanted = {(path.parent / name).resolve() for path in named for name in IMPORT.findall(path.read_text())}
    assert len(wanted) > 30
    assert wanted <= named


def test_every_file_of_ours_is_collected(collected):
    ours = [path.relative_to(PROJECT / "static") for path in (PROJECT / "static").rglob("*") if path.is_file()]
    assert [path for path in ours if not (collected / path).is_file()] == []
