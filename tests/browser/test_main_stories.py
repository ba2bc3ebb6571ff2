"""The main stories in Chromium, where they are another's: without the socket, and in Chinese on a phone in the dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .main_stories import MainStories
from .page_actions import block_socket

CHINESE_PHONE = {
    "locale": "zh-CN",
    "color_scheme": "dark",
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}


class TestWithoutSocket(MainStories):
    @pytest.fixture
    def page(self, signed_in) -> Page:
        page = signed_in()
        block_socket(page)
        page.reload()
        return page


class TestInChineseOnPhone(MainStories):
    @pytest.fixture
    def page(self, signed_in) -> Page:
        page = signed_in(**CHINESE_PHONE)
        expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
        return page
