"""Bundles on disk. Their content is tested by the pages that are made of them."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration import bundles


def test_a_folder_that_can_not_be_written_to_is_one_sentence(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(bundles, "FOLDER", tmp_path / "file" / "bundles")
    with pytest.raises(ImproperlyConfigured, match=r"can.t be written to .* \(Not a directory\)"):
        bundles.bundle_files()


def test_they_are_made_once_and_compressed(monkeypatch, tmp_path):
    monkeypatch.setattr(bundles, "FOLDER", tmp_path)
    files = bundles.bundle_files()
    made = {file: file.stat().st_mtime_ns for file in files.values()}
    assert {name.rpartition(".")[2] for name in files} == {"js", "css", "br", "gz"}
    assert {file: file.stat().st_mtime_ns for file in bundles.bundle_files().values()} == made
