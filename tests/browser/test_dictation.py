"""Dictation: a button only where the browser has it, nothing heard before the user knows by whom."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .page_actions import composer

FAKE = """
  window.heard = [];
  class Recognition {
    constructor() { window.recognition = this; }
    start() { window.heard.push("start " + this.lang); }
    stop() { window.heard.push("stop"); this.onend(); }
    abort() { window.heard.push("abort"); }
  }
  window.SpeechRecognition = window.webkitSpeechRecognition = Recognition;
"""
NONE = "window.SpeechRecognition = window.webkitSpeechRecognition = undefined;"
SAY = """([text, isFinal]) => {
  const result = Object.assign([{ transcript: text }], { isFinal });
  window.recognition.onresult({ resultIndex: 0, results: [result] });
}"""


def button(page: Page):
    return page.get_by_role("button", name="Dictate", exact=True)


def note(page: Page):
    return page.locator('[data-part="dictation"]')


def heard(page: Page) -> list[str]:
    return page.evaluate("window.heard")


def with_recognition(page: Page) -> Page:
    page.add_init_script(FAKE)
    page.reload()
    return page


def test_there_is_no_button_where_the_browser_can_not_do_it(page):
    page.add_init_script(NONE)
    page.reload()
    expect(composer(page)).to_be_focused()
    expect(button(page)).to_be_hidden()


def test_before_the_first_time_it_says_who_may_hear_it(page):
    with_recognition(page)
    button(page).click()
    expect(note(page)).to_contain_text("Its maker may process what you say on its own servers")
    assert heard(page) == []
    button(page).click()
    expect(note(page)).to_be_hidden()


def test_what_is_said_is_written_where_the_caret_stands(page):
    with_recognition(page)
    composer(page).fill("Dear Anna,")
    button(page).click()
    note(page).get_by_role("button", name="Start dictation").click()
    assert heard(page) == ["start en"]
    expect(button(page)).to_have_attribute("aria-pressed", "true")
    page.evaluate(SAY, ["how are", False])
    expect(note(page)).to_contain_text("how are")
    expect(composer(page)).to_have_value("Dear Anna,")
    page.evaluate(SAY, [" how are you? ", True])
    expect(composer(page)).to_have_value("Dear Anna, how are you?")
    button(page).click()
    expect(note(page)).to_be_hidden()
    expect(button(page)).to_have_attribute("aria-pressed", "false")
    button(page).click()
    assert heard(page) == ["start en", "stop", "start en"]


def test_it_says_why_where_the_microphone_is_forbidden(page):
    with_recognition(page)
    button(page).click()
    note(page).get_by_role("button", name="Start dictation").click()
    page.evaluate("window.recognition.onerror({ error: 'not-allowed' }); window.recognition.onend()")
    expect(note(page)).to_contain_text("did not allow the microphone")


def test_a_press_that_can_not_fetch_it_says_so_and_the_next_tries_again(page):
    with_recognition(page)
    page.route("**/dictation*", lambda route: route.abort())
    button(page).click()
    expect(page.locator('[data-part="announcer"]')).to_contain_text("could not turn your speech into text")
    page.unroute_all()
    button(page).click()
    expect(note(page)).to_contain_text("Its maker may process what you say")


def test_pages_may_ask_for_the_microphone_and_pages_within_them_may_not(page):
    policy = page.request.get("/").headers["permissions-policy"]
    assert "microphone=(self)" in policy
    assert "camera=()" in policy
