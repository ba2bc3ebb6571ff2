"""What axe-core finds on pages, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page

from tests.support.axe import find_faults

NOT_OK = ("/no-such-page/", "/gate/")  # the second to those who are blocked


def assert_none(faults: Iterator[str]) -> None:
    found = list(faults)
    assert not found, "\n" + "\n".join(found)


def faults_of(page: Page, addresses: tuple[str, ...]) -> Iterator[str]:
    for address in addresses:
        answer = page.goto(address)  # none where it is the page that is shown
        assert answer is None or answer.ok or address in NOT_OK, f"{address}: {answer.status}"
        yield from find_faults(page, address)
