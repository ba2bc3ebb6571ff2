"""The acknowledgement gets lost and the page sends again: the same client id is the same message."""

from __future__ import annotations

import uuid

import pytest

from tests.support.concurrent_users import at_once
from tests.support.patience import wait_for
from tests.support.ports import free_port

from .browsers import Browser

IDS = """
SELECT message.id AS message, reply.id AS reply FROM conversations_message message
JOIN conversations_message reply ON reply.parent_id = message.id WHERE message.client_id = %s
"""
CONTENTS = "SELECT content FROM conversations_message WHERE client_id = %s"


def stored(frame):
    return (frame["message"], frame["reply"])


def is_answered_once(site, content, reply):
    assert site.wait_for_end(reply)["state"] == "complete"
    return len(site.requests_about(content)) == len(site.ledger(reply)) == 1


@pytest.fixture(scope="module")
def browser_elsewhere(shared_site, shared_browser):
    """The same person's, at a second web process of the site."""
    port = free_port()
    process = shared_site.start("serve", PORT=str(port), RUN_WORKER="off")
    yield Browser(f"http://127.0.0.1:{port}", cookies=shared_browser)
    process.end()


def test_what_was_stored_and_never_acknowledged_is_the_same_message(site, page, chance):
    """The connection is cut once the message is stored: of what the server has said since, the page knows nothing."""
    site.answer_with("ok")
    client_id = str(uuid.uuid4())
    content = page.post(client_id=client_id)
    [ids] = wait_for(lambda: site.database.rows(IDS, client_id), "the message is stored")
    page.vanish()
    page.come_back(chance)
    for _ in range(chance.randint(1, 5)):
        page.post(content, client_id=client_id)
        assert stored(page.answer()) == (ids["message"], ids["reply"])
    assert is_answered_once(site, content, ids["reply"])


def test_a_message_sent_again_is_the_same_message(site, page, chance):
    site.answer_with("ok")
    client_id = str(uuid.uuid4())
    content = page.post(client_id=client_id)
    first = stored(page.wait_for("message.stored"))
    for _ in range(chance.randint(1, 5)):
        page.post(content, client_id=client_id)
        assert stored(page.answer()) == first
    assert is_answered_once(site, content, first[1])


def test_a_message_sent_again_in_the_middle_of_its_reply_is_the_same_message(site, page):
    site.answer_with("held-60")
    client_id = str(uuid.uuid4())
    content = page.post(client_id=client_id)
    first = stored(page.answer())
    page.wait_for_text(first[1])
    page.post(content, client_id=client_id)
    assert stored(page.answer()) == first
    site.upstream.release()
    assert is_answered_once(site, content, first[1])


def test_two_sockets_that_send_the_same_at_once_send_it_once(site, page, shared_browser, chance):
    site.answer_with("ok")
    content, client_id = f"once {uuid.uuid4()}", str(uuid.uuid4())
    pages = [page, site.open_page(shared_browser, page.conversation)]
    at_once(lambda sender: sender.post(content, client_id=client_id), pages)
    replies = {stored(sender.wait_for("message.stored")) for sender in pages}
    assert len(replies) == 1
    assert is_answered_once(site, content, replies.pop()[1])


def test_http_and_a_socket_that_send_the_same_at_once_send_it_once(site, page, shared_browser, chance):
    site.answer_with("ok")
    content, client_id = f"once {uuid.uuid4()}", str(uuid.uuid4())
    senders = [
        lambda: page.post(content, client_id=client_id),
        lambda: shared_browser.post(page.conversation, content, client_id),
    ]
    _, (status, answer) = at_once(lambda send: send(), senders)
    assert status in (200, 201)
    assert stored(page.wait_for("message.stored")) == stored(answer)
    assert is_answered_once(site, content, answer["reply"])


def test_two_web_processes_that_are_sent_the_same_at_once_store_it_once(site, page, browser_elsewhere, chance):
    """By a socket of each and by HTTP of the second one; and once more after the reply has ended."""
    site.answer_with("ok")
    content, client_id = f"once {uuid.uuid4()}", str(uuid.uuid4())
    elsewhere = site.open_page(browser_elsewhere, page.conversation)
    senders = [
        lambda: page.post(content, client_id=client_id),
        lambda: elsewhere.post(content, client_id=client_id),
        lambda: browser_elsewhere.post(page.conversation, content, client_id),
    ]
    *_, (status, answer) = at_once(lambda send: send(), senders)
    assert status in (200, 201)
    assert {stored(each.wait_for("message.stored")) for each in (page, elsewhere)} == {stored(answer)}
    assert is_answered_once(site, content, answer["reply"])
    elsewhere.post(content, client_id=client_id)
    assert stored(elsewhere.wait_for("message.stored")) == stored(answer)
    assert is_answered_once(site, content, answer["reply"])


def test_the_same_client_id_of_another_person_is_another_message(site, page, chance):
    site.answer_with("ok")
    client_id, pages = str(uuid.uuid4()), [page, site.open_page(site.sign_up())]
    contents = at_once(lambda sender: sender.post(client_id=client_id), pages)
    answers = [sender.answer() for sender in pages]
    assert len({stored(answer) for answer in answers}) == 2
    for content, answer in zip(contents, answers, strict=True):
        assert is_answered_once(site, content, answer["reply"])


def test_the_first_message_sent_twice_at_once_begins_one_conversation(site, shared_browser, chance):
    site.answer_with("ok")
    conversation, content, client_id = str(uuid.uuid4()), f"once {uuid.uuid4()}", str(uuid.uuid4())
    answers = at_once(lambda _: shared_browser.post(conversation, content, client_id), range(3))
    assert sorted(status for status, _ in answers) == [200, 200, 201]
    assert len({stored(answer) for _, answer in answers}) == 1
    assert is_answered_once(site, content, answers[0][1]["reply"])


@pytest.mark.parametrize("other_content", ["", "something else"])
def test_the_same_client_id_never_stores_a_second_content(site, page, other_content):
    site.answer_with("ok")
    client_id = str(uuid.uuid4())
    content = page.post(client_id=client_id)
    reply = page.answer()["reply"]
    page.send("message.post", content=other_content or content, client_id=client_id)
    page.answer()
    assert is_answered_once(site, content, reply)
    assert site.database.value(CONTENTS, client_id) == content


def test_an_edit_sent_again_is_the_same_version_and_asked_once(site, page, shared_browser, chance):
    site.answer_with("ok")
    page.post()
    first = page.wait_for("message.stored")
    page.wait_for_end(first["reply"])
    content, client_id = f"in other words {uuid.uuid4()}", str(uuid.uuid4())
    pages = [page, site.open_page(shared_browser, page.conversation)]
    at_once(lambda sender: sender.edit(first["message"], content, client_id=client_id), pages)
    replies = {stored(sender.wait_for("message.stored")) for sender in pages}
    page.edit(first["message"], content, client_id=client_id)
    assert replies == {stored(page.wait_for("message.stored"))}
    assert is_answered_once(site, content, replies.pop()[1])
