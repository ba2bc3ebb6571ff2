"""Replies read aloud by the browser: only where it has a voice, in the language of the text, until it is stopped."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import replies, say, wait_until

# A browser with two voices, which says nothing by itself: the test ends each piece.
VOICES = """
const said = (window.said = []);
class Utterance { constructor(text) { this.text = text; } }
const speech = Object.assign(new EventTarget(), {
  getVoices: () => [{ lang: "de-DE", localService: true }, { lang: "en-GB", localService: true }],
  speak: (utterance) => said.push(utterance),
  cancel: () => { window.cancelled = (window.cancelled ?? 0) + 1; },
});
Object.defineProperty(window, "speechSynthesis", { value: speech });
window.SpeechSynthesisUtterance = Utterance;
"""


def said(page):
    return page.evaluate("window.said.map(({ text, lang }) => [lang, text])")


@pytest.fixture
def talk(signed_in):
    page = signed_in()
    page.add_init_script(VOICES)
    page.reload()
    return page


def test_a_browser_without_a_voice_offers_nothing(signed_in):
    page = signed_in()
    page.add_init_script('Object.defineProperty(window, "speechSynthesis", { value: undefined });')
    page.reload()
    say(page, "My name is Andrew")
    expect(replies(page).last.locator("[data-action=read-aloud]")).to_be_hidden()


def test_a_reply_is_read_sentence_by_sentence_and_ends(talk):
    reply = say(talk, "My name is Andrew")
    button = reply.get_by_role("button", name="Read aloud")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    pieces = wait_until(talk, lambda: said(talk))  # all of them are said at once, when the code for it has come
    assert {language for language, _ in pieces} == {"en-GB"}
    assert len(pieces) > 1
    assert pieces[0][1].startswith("I have read that")
    talk.evaluate("window.said.at(-1).onend()")
    expect(button).to_have_attribute("aria-pressed", "false")


def test_pressed_again_it_stops_and_another_reply_stops_the_first(talk):
    say(talk, "My name is Andrew")
    second = say(talk, "What is my name?")
    first = replies(talk).first
    first.hover()
    one, other = (reply.get_by_role("button", name="Read aloud") for reply in (first, second))
    one.click()
    other.click()
    expect(one).to_have_attribute("aria-pressed", "false")
    expect(other).to_have_attribute("aria-pressed", "true")
    other.click()
    expect(other).to_have_attribute("aria-pressed", "false")
    assert talk.evaluate("window.cancelled") >= 3


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Kabine steht auf dem Fels und ist nicht weit von der Straße.", "de"),
        ("La maison est dans la rue et les enfants jouent avec des ballons pour rire.", "fr"),
        ("The boat goes to the island and it is not far.", "en"),
        ("这是一个关于窗口的句子。", "zh"),
        ("これは窓についての文です。", "ja"),
        ("Это предложение о погоде.", "ru"),
        ("17 × 23 = 391", "xx"),
    ],
)
def test_the_language_of_a_text_is_told_by_its_letters_and_words(page, text, language):
    code = "async (text) => (await import('/static/js/messages/text_language.js')).languageOf(text, 'xx')"
    assert page.evaluate(code, text) == language
