"""Style sheets as browsers get them, minified, say the same to a browser as the files that they are made of."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from chatsite.configuration.bundles import STYLES, bundles
from tests.support.source import PROJECT

RULES = """text => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return [...sheet.cssRules].map(({ cssText }) => cssText);
}"""
# Values with variables stay as they are written. Blanks at these characters mean nothing; at + or - they do.
BLANKS = re.compile(r"\s*([,;:{}()])\s*|(?<=\s)\s+")


def rules_of(page: Page, text: str) -> list[str]:
    return [BLANKS.sub(r"\1", rule) for rule in page.evaluate(RULES, text)]


@pytest.mark.parametrize("name", STYLES)
def test_a_browser_reads_the_same_rules(browser, name):
    page = browser.new_page()
    written = "".join((PROJECT / "static" / path).read_text(encoding="utf-8") for path in STYLES[name])
    rules = rules_of(page, written)
    assert rules
    assert rules_of(page, bundles()[name]) == rules
    page.close()
