"""What a browser that has nothing yet fetches for a conversation: few files, and all of them small."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .page_actions import composer, messages, say

MOST_REQUESTS = 15
MOST_BYTES = 120_000
QUESTION = "Take **Reine** for the first four nights, and ask for the ferry times before you book the car. "


def load(page: Page, address: str) -> tuple[dict[str, int], list[str]]:
    """Open *address* without a cache; return the bytes of each answer as it came, and the requests without one."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    addresses: dict[str, str] = {}
    received: dict[str, int] = {}

    def note_request(event: dict) -> None:
        addresses[event["requestId"]] = event["request"]["url"]

    def note_end(event: dict) -> None:
        received[addresses[event["requestId"]]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", note_request)
    session.on("Network.loadingFinished", note_end)
    page.goto(address, wait_until="networkidle")
    expect(composer(page)).to_be_editable()
    return received, [address for address in addresses.values() if address not in received]


def test_a_conversation_is_loaded_with_few_requests_and_few_bytes(page):
    for _ in range(3):
        say(page, QUESTION)
    fresh = page.context.new_page()
    received, unanswered = load(fresh, page.url)
    expect(messages(fresh)).to_have_count(6)
    listed = "\n".join(f"{size:>7} {address}" for address, size in received.items())
    assert len(received) + len(unanswered) <= MOST_REQUESTS, listed
    assert sum(received.values()) <= MOST_BYTES, listed
    assert any(address.endswith(".woff2") for address in received), "its letters belong to it"
