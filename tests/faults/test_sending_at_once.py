"""Several pages send to one conversation at the same moment: one is first, the others are told so."""

from __future__ import annotations

import pytest

from tests.support.concurrent_users import at_once


@pytest.mark.parametrize("count", [2, 6])
def test_one_message_is_taken_and_the_others_are_refused(site, page, shared_browser, chance, count):
    site.answer_with("held-60")
    pages = [page, *(site.open_page(shared_browser, page.conversation) for _ in range(count - 1))]
    contents = at_once(lambda sender: sender.post(), pages)
    answers = [sender.answer() for sender in pages]
    assert sorted(answer.get("code", "") for answer in answers) == ["", *["reply_in_progress"] * (count - 1)]
    [reply] = [answer["reply"] for answer in answers if "reply" in answer]
    pages[0].wait_for_text(reply)
    site.let_end(reply)
    assert [bool(site.requests_about(content)) for content in contents] == ["reply" in answer for answer in answers]


def test_all_pages_see_the_same_in_the_end(site, page, shared_browser, chance):
    site.answer_with("held-60")
    pages = [page, *(site.open_page(shared_browser, page.conversation) for _ in range(3))]
    at_once(lambda sender: sender.post(), pages)
    reply = pages[0].wait_for("message.stored")["reply"]
    pages[0].wait_for_text(reply)
    site.upstream.release()
    for each in pages:
        each.wait_for_end(reply)
    assert {each.texts[reply].text for each in pages} == {site.wait_for_end(reply)["content"]}
