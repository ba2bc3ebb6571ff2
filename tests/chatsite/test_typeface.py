"""The typeface of all pages: made small from the files that django-unfold carries, for the chat and for the admin."""

import logging
import re
from io import BytesIO

import pytest
from django.contrib.staticfiles import finders
from fontTools.ttLib import TTFont

from chatsite.configuration import typeface
from chatsite.configuration.font_subset import code_points, subset_font
from tests.support.source import PROJECT

SHEETS = [PROJECT / "static/css/typeface.css", PROJECT / "static/unfold/fonts/inter/styles.css"]
URL = re.compile(r'url\("(?:\.\./)+(fonts/[^"]+)"\)')


def named_files(sheet):
    return set(URL.findall(sheet.read_text(encoding="utf-8")))


def test_all_weights_of_latin_letters_take_at_most_50_kilobytes():
    sizes = [path.stat().st_size for name, path in typeface.typeface_files().items() if "-latin-ext-" not in name]
    assert len(sizes) == len(typeface.WEIGHTS)
    assert sum(sizes) <= 50_000


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.parent.name)
def test_a_sheet_names_files_that_there_are(sheet):
    assert named_files(sheet)
    assert all(finders.find(name) for name in named_files(sheet))


def test_every_file_is_named():
    assert set().union(*map(named_files, SHEETS)) == set(typeface.typeface_files())


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.parent.name)
def test_a_face_has_the_letters_that_its_file_has(sheet):
    text = " ".join(sheet.read_text(encoding="utf-8").split())
    faces = re.findall(r'fonts/inter-([a-z-]+)-\d+\.woff2"\) format\("woff2"\); unicode-range: ([^;]+);', text)
    assert faces
    for letters, unicode_range in faces:
        assert code_points(unicode_range) == code_points(typeface.LETTERS[letters])


def test_a_file_keeps_its_letters_kerning_even_digits_and_licence():
    font = TTFont(typeface.typeface_files()["fonts/inter-latin-400.woff2"])
    soft_hyphen = {0xAD}  # browsers draw it as a hyphen
    assert set(font.getBestCmap()) == code_points(typeface.LETTERS["latin"]) - soft_hyphen
    assert {record.FeatureTag for record in font["GSUB"].table.FeatureList.FeatureRecord} == {"tnum"}
    assert {record.FeatureTag for record in font["GPOS"].table.FeatureList.FeatureRecord} == {"kern"}
    assert "SIL Open Font License" in font["name"].getDebugName(13)


def test_the_same_file_comes_out_each_time():
    """Otherwise each build would give it another hashed name."""
    carried = typeface._carried_folder() / typeface.WEIGHTS[400]
    first, second = (subset_font(carried.read_bytes(), "U+41-5A") for _ in range(2))
    assert first == second
    assert len(TTFont(BytesIO(first)).getBestCmap()) == 26


def test_the_admin_s_sheet_is_ours():
    assert finders.find("unfold/fonts/inter/styles.css") == str(SHEETS[1])


def test_where_nothing_can_be_written_the_larger_files_are_used(monkeypatch, tmp_path, caplog):
    (tmp_path / "taken").write_text("a file in the place of a folder")
    monkeypatch.setattr(typeface, "FOLDER", tmp_path / "taken")
    with caplog.at_level(logging.WARNING):
        files = typeface.typeface_files()
    assert all(path.is_file() and path.stat().st_size > 100_000 for path in files.values())
    assert "larger ones" in caplog.text
