"""Names in sentences, as scripts isolate them: the same as the server, for one page has sentences of both."""

from __future__ import annotations

import unicodedata

import pytest
from django.utils import translation

from chatsite.names import RIGHT_TO_LEFT, isolate_name

ISOLATE = """async ({ direction, names }) => {
  const { isolateName } = await import("/static/js/shared/names.js");
  document.documentElement.dir = direction;
  return names.map(isolateName);
}"""
TRICKY = [
    "",
    " ",
    "Lofoten (2)!",
    "日本語",
    "😀 e\u0301",
    "שלום!",
    "C++\u200e ו־Python",
    "مرحبا (2)",
    "می\u200cخواهم",
    "١٢",
    "\u200f!",
    "\u061c",
    "𞤀𞤁",
    "\u202eevil\u202c",
    "\u202aא\u2069\u2069",
    "\u2066a\u2067\u2068\u2069",
    "\u2068שלום!\u2069",
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "two\nlines\u2029א\r\x00\x1c\x85b",
    "a\u2028b",
]


@pytest.fixture(scope="module")
def isolate_in_browser(site, browser):
    page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")
    yield lambda direction, names: page.evaluate(ISOLATE, {"direction": direction, "names": names})
    page.close()


@pytest.mark.parametrize(("direction", "language"), [("ltr", "en"), ("rtl", "he")])
def test_scripts_isolate_names_as_the_server_does(isolate_in_browser, direction, language):
    with translation.override(language):
        assert isolate_in_browser(direction, TRICKY) == [isolate_name(name) for name in TRICKY]


def test_each_character_that_runs_from_right_to_left_is_isolated(isolate_in_browser):
    characters = [chr(code) for code in range(0x110000) if unicodedata.bidirectional(chr(code)) in RIGHT_TO_LEFT]
    assert len(characters) > 1_000
    assert isolate_in_browser("ltr", characters) == [isolate_name(each) for each in characters]
