"""What a user does with documents: steps for browser tests."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

NOTES = ("notes.md", "# Lights\n\nThe lighthouse of Amrum burns since 1875.")
DROP = """([selector, type, names]) => {
  const transfer = new DataTransfer();
  for (const name of names) transfer.items.add(new File([`What ${name} says.`], name));
  const how = { bubbles: true, cancelable: true, dataTransfer: transfer, clipboardData: transfer };
  const event = type === "paste" ? new ClipboardEvent(type, how) : new DragEvent(type, how);
  document.querySelector(selector).dispatchEvent(event);
}"""


def file(name: str, content: str) -> dict[str, object]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content.encode()}


def add_documents(page: Page, *files: tuple[str, str]) -> None:
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Add documents").first.click()
    chosen.value.set_files([file(*each) for each in files])


def drop_files(page: Page, kind: str, *names: str) -> None:
    page.evaluate(DROP, ["#main", kind, names])


def document_row(page: Page, name: str) -> Locator:
    return page.locator("[data-document]", has_text=name)
