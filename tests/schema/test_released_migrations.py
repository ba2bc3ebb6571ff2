"""Migrations of releases stay as they are: a database that was made by them could not be told from another."""

from __future__ import annotations

import sys

import pytest

from chatsite.schema.history import checksum_of_module, own_checksums

# Of each migration when it was first released.
RELEASED = {
    ("accounts", "0001_initial"): "8c0134783c2743255d914a220797c0f99f9a9a298ea0f58145ff8cbc38774310",
    ("conversations", "0001_initial"): "3477c3510a7ee8ab8735e399bb31b2f0cc041cff9e68ee94942a73dd0ad28d62",
}


@pytest.mark.parametrize("key", RELEASED)
def test_a_released_migration_is_not_edited(key):
    name, found = ".".join(key), own_checksums().get(key)
    assert found == RELEASED[key], (
        f"{name} was released, and databases have been made by it: take the change of it, or of a module that it takes "
        "SQL from, back, and write a new migration (CONTRIBUTING.md, Migrations)."
    )


def test_a_checksum_is_of_the_migration_and_of_the_sql_that_it_imports(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("chatsite.schema.history.OUR_PACKAGES", ("zoo",))
    folder = tmp_path / "zoo"
    folder.mkdir()
    (folder / "__init__.py").touch()
    texts = {"migration": "import zoo.model\nfrom zoo.sql import KEEP\n", "sql": "KEEP = 1\n", "model": "LONG = 9\n"}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    seen = [checksum_of_module("zoo.migration")]
    for name in texts:
        (folder / f"{name}.py").write_text(f"{texts[name]}# edited\n")
        seen.append(checksum_of_module("zoo.migration"))
        sys.modules.pop("zoo", None)
    as_released, edited, sql_edited, model_edited = seen
    assert len({as_released, edited, sql_edited}) == 3
    assert model_edited == sql_edited
