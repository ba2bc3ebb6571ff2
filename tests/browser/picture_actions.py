"""What a user does with pictures: steps for browser tests."""

from __future__ import annotations

import base64

from playwright.sync_api import Locator, Page

from tests.parsing.pictures import drawing, encoded, photo

CAT, DOG = encoded(photo(), "JPEG"), encoded(drawing(200, 300), "PNG")
BRING = """([type, files]) => {
  const transfer = new DataTransfer();
  for (const [name, kind, base64] of files) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name, { type: kind }));
  }
  const how = { bubbles: true, cancelable: true, dataTransfer: transfer, clipboardData: transfer };
  const event = type === "paste" ? new ClipboardEvent(type, how) : new DragEvent(type, how);
  document.querySelector("#main").dispatchEvent(event);
}"""


def bring_pictures(page: Page, kind: str, **pictures: bytes) -> None:
    """Drop or paste pictures, by their names without `.png`."""
    files = [[f"{name}.png", "image/png", base64.b64encode(content).decode()] for name, content in pictures.items()]
    page.evaluate(BRING, [kind, files])


def attached_pictures(page: Page) -> Locator:
    """Those in the tray that are stored."""
    return page.locator(".attached-picture img:visible")
