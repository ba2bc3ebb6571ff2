"""The main stories in Firefox."""

from __future__ import annotations

from tests.browser.main_stories import MainStories


class TestInFirefox(MainStories):
    def test_it_is_firefox(self, page):
        assert "Firefox/" in page.evaluate("navigator.userAgent")
