"""Dates and times on pages: one form of each in a language, in templates, errors and the admin."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.utils import translation
from django.utils.formats import date_format

from tests.support.source import PROJECT

MOMENT = dt.datetime(2026, 3, 4, 9, 5, tzinfo=dt.UTC)
FORMATS = ["DATETIME_FORMAT", "DATE_FORMAT", "TIME_FORMAT", "MONTH_DAY_FORMAT", "SHORT_DATETIME_FORMAT"]
FILTER = re.compile(r"""\|(?:date|time):(_\()?["']([^"']*)["']""")
# Of a moment of these days, which the page's script writes once more; the value of a date field; a moment for machines.
OTHERS = {"j M, H:i", "Y-m-d", "c", "Y"}


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", ["4 Mar 2026, 09:05", "4 Mar 2026", "09:05", "4 Mar", "4 Mar 2026, 09:05"]),
        ("zh-hans", ["2026年3月4日 09:05", "2026年3月4日", "09:05", "3月4日", "2026年3月4日 09:05"]),
    ],
)
def test_each_language_has_its_form(language, written):
    with translation.override(language):
        assert [date_format(MOMENT, name) for name in FORMATS] == written


def test_no_template_has_a_form_of_its_own():
    files = [path for path in (PROJECT / "templates").rglob("*") if path.suffix in (".html", ".txt")]
    used = {(path.name, form) for path in files for _, form in FILTER.findall(path.read_text())}
    assert not {(name, form) for name, form in used if form not in {*FORMATS, *OTHERS}}


def test_iso_dates_are_in_fields_alone():
    lines = [
        line
        for path in (PROJECT / "templates").rglob("*.html")
        for line in path.read_text().splitlines()
        if re.search(r"""date:["']Y-m-d["']""", re.sub(r"""(?:value|min)="[^>]*?">?""", "", line))
    ]
    assert not lines
