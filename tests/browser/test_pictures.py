"""Pictures in the browser: chosen, pasted, dropped, described, removed, kept over a reload, sent and seen large."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.parsing.pictures import drawing, encoded, photo, png_of_size

from .page_actions import CONVERSATION_PATH, composer, messages, replies, streaming, wait_until
from .picture_actions import CAT, DOG, attached_pictures, bring_pictures


def choose(page: Page, name: str, content: bytes) -> None:
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Add documents or pictures").click()
    chosen.value.set_files([{"name": name, "mimeType": "image/jpeg", "buffer": content}])


def is_drawn(image: Locator) -> bool:
    return bool(image.evaluate("image => image.decode().then(() => image.naturalWidth > 0)"))


def send(page: Page) -> None:
    composer(page).press("Enter")
    expect(replies(page)).not_to_have_count(0)
    expect(streaming(page)).to_have_count(0)


def test_pictures_are_pasted_dropped_removed_kept_and_sent_without_words(page):
    bring_pictures(page, "paste", cat=CAT)
    expect(attached_pictures(page)).to_have_count(1)
    expect(page).to_have_url(CONVERSATION_PATH)  # the picture has begun it
    bring_pictures(page, "drop", dog=DOG)
    expect(attached_pictures(page)).to_have_count(2)
    choose(page, "again.jpg", CAT)  # which is there already
    expect(page.locator(".attached-picture")).to_have_count(2)
    page.get_by_label("Description of the picture").nth(1).fill("Half a flag")
    with page.expect_response(re.compile("/describe/")):
        page.get_by_label("Description of the picture").nth(1).press("Tab")
    page.get_by_role("button", name="Remove this picture").first.click()
    expect(attached_pictures(page)).to_have_count(1)
    page.reload()
    expect(attached_pictures(page)).to_have_count(1)
    expect(page.get_by_label("Description of the picture")).to_have_value("Half a flag")
    assert is_drawn(attached_pictures(page))
    send(page)
    expect(page.locator(".attached-picture")).to_have_count(0)
    shown = messages(page).first.get_by_role("img", name="Half a flag")
    expect(shown).to_be_visible()
    assert is_drawn(shown)
    page.reload()
    expect(messages(page).first.get_by_role("img", name="Half a flag")).to_be_visible()
    expect(page.locator(".attached-picture")).to_have_count(0)


def test_a_picture_is_seen_large_by_mouse_and_keys(page):
    bring_pictures(page, "drop", cat=CAT, dog=DOG)
    expect(attached_pictures(page)).to_have_count(2)
    composer(page).fill("Which is which?")
    send(page)
    large = page.get_by_role("dialog", name="Picture")
    messages(page).first.get_by_role("link", name="cat.png").focus()
    page.keyboard.press("Enter")
    expect(large.get_by_role("img", name="cat.png")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(large.get_by_role("img", name="dog.png")).to_be_visible()
    page.keyboard.press("Escape")
    expect(large).to_be_hidden()
    expect(messages(page).first.get_by_role("link", name="cat.png")).to_be_focused()


def test_its_place_is_kept_before_it_is_here(page):
    """Width and height stand in the page, so nothing moves when the bytes come."""
    bring_pictures(page, "drop", dog=DOG)
    expect(attached_pictures(page)).to_have_count(1)
    send(page)
    page.route(re.compile(r"/pictures/\d+/$"), lambda route: None)  # never answered
    page.reload()
    box = messages(page).first.locator(".picture img").bounding_box()
    assert box
    assert box["height"] > 100
    assert abs(box["width"] / box["height"] - 2 / 3) < 0.02


def test_what_can_not_be_read_says_why_and_holds_the_message_back(page):
    bring_pictures(page, "drop", fake=b"<html>no picture</html>", huge=png_of_size(30_000, 30_000))
    failed = page.locator(".attached-picture.is-failed")
    expect(failed).to_have_count(2)
    expect(failed.first).to_contain_text("not a picture that can be read here")
    expect(failed.last).to_contain_text("30,000 × 30,000 pixels")
    composer(page).fill("See?")
    composer(page).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Remove it, then send the message")
    expect(messages(page)).to_have_count(0)
    for _ in range(2):
        page.get_by_role("button", name="Remove this picture").first.click()
    send(page)
    expect(messages(page)).to_have_count(2)


def test_what_is_no_picture_becomes_a_document(page):
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Add documents or pictures").click()
    chosen.value.set_files({"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Lights"})
    expect(page.locator('[data-part="shelf"]')).to_contain_text("notes.md")
    expect(attached_pictures(page)).to_have_count(0)


def test_fifty_at_once_are_too_many(page):
    many = {f"drawing{number}": encoded(drawing(40 + number, 30)) for number in range(50)}
    bring_pictures(page, "drop", **many)
    expect(page.locator("[data-note]")).to_contain_text("A message can have 20 pictures")
    expect(page.locator(".attached-picture")).to_have_count(20)


def test_an_edited_message_keeps_its_pictures(page):
    bring_pictures(page, "drop", cat=CAT)
    expect(attached_pictures(page)).to_have_count(1)
    composer(page).fill("A cat")
    send(page)
    messages(page).first.get_by_role("link", name="Edit").click()
    page.get_by_role("textbox", name="Your message").fill("Another cat")
    page.get_by_role("textbox", name="Your message").press("Enter")
    expect(messages(page).first).to_contain_text("Another cat")
    expect(messages(page).first.get_by_role("img", name="cat.png")).to_be_visible()


def prompt_tokens(page: Page) -> int:
    """What the meter says that the prompt takes."""
    return int(page.locator("[data-part=meter] .meter-text [data-tokens=prompt]").inner_text().replace(",", "") or 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_meter_counts_a_picture_before_it_is_sent(signed_in, scheme, width, tmp_path: Path):
    page = signed_in(color_scheme=scheme, viewport={"width": width, "height": 800})
    composer(page).fill("What is this?")
    meter = page.locator("[data-part=meter]")
    of_pictures = meter.locator(".meter-text [data-tokens=pictures]")
    expect(meter.locator("[data-tokens=content]").first).to_have_text(re.compile(r"^[1-9]"))  # not that of no text
    before = prompt_tokens(page)
    bring_pictures(page, "paste", cat=CAT)
    expect(of_pictures).to_have_text(re.compile(r"^[1-9][\d,]*$"))
    assert prompt_tokens(page) == before + int(of_pictures.inner_text().replace(",", ""))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=tmp_path / f"meter-{scheme}-{width}.png")
    page.get_by_role("button", name="Remove this picture").click()
    wait_until(page, lambda: prompt_tokens(page) == before)
    expect(of_pictures).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(page, scheme, width, tmp_path: Path):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    wide = encoded(photo(2_000, 700), "JPEG")
    bring_pictures(page, "drop", cat=CAT, wide=wide)
    expect(attached_pictures(page)).to_have_count(2)
    composer(page).fill("Which of them is wide?")
    send(page)
    bring_pictures(page, "drop", dog=DOG, cat=CAT, broken=b"<html>")
    expect(page.locator(".attached-picture.is-failed")).to_have_count(1)
    expect(attached_pictures(page)).to_have_count(2)
    failed = page.locator(".attached-picture.is-failed")
    failed.scroll_into_view_if_needed()
    card = failed.bounding_box()
    assert card
    assert card["x"] >= 0
    assert card["x"] + card["width"] <= width
    assert card["height"] < 100
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=tmp_path / f"pictures-{scheme}-{width}.png")
    messages(page).first.get_by_role("link", name="wide.png").click()
    expect(page.get_by_role("dialog", name="Picture").get_by_role("img")).to_be_visible()
    page.screenshot(path=tmp_path / f"large-{scheme}-{width}.png")
