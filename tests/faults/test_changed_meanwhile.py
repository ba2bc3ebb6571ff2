"""A conversation is changed from another page while a reply of it streams: nothing that was taken away comes back."""

from __future__ import annotations

import uuid

import pytest

from .browsers import PASSWORD

STATES = "SELECT state FROM conversations_message WHERE id = ANY(%s) ORDER BY id"
ROWS = "SELECT count(*) FROM conversations_message WHERE content = %s"
ARCHIVED = "SELECT archived FROM conversations_conversation WHERE public_id = %s"
DELETED = "SELECT deleted_at IS NOT NULL FROM conversations_conversation WHERE public_id = %s"
STREAMING = """
SELECT count(*) FROM conversations_message message JOIN conversations_conversation conversation
ON conversation.id = message.conversation_id WHERE conversation.public_id = %s AND state = 'streaming'
"""
PERSON = "SELECT id FROM accounts_user WHERE email = %s"
FOREIGN_KEYS = """
SELECT conrelid::regclass AS place, attname AS name FROM pg_constraint
JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
WHERE contype = 'f' AND confrelid = 'accounts_user'::regclass
"""


@pytest.fixture
def person(site, chance):
    """A new person in each test, since one of them deletes the account."""
    return site.sign_up(comes_from=f"127.{chance.randint(1, 254)}.{chance.randint(1, 254)}.1")


@pytest.fixture
def begun(site, person, chance):
    """A page and its message, whose reply streams for as long as it may, and a second page of the same conversation."""
    page = site.open_page(person)
    other = site.open_page(person, page.conversation)
    site.answer_with("endless")
    content = page.post()
    stored = page.answer()
    page.wait_for_text(stored["reply"], chance.randint(1, 400))
    return page, other, content, stored


def test_an_archived_conversation_gets_the_rest_of_its_reply(site, person, begun, chance):
    page, _, _, stored = begun
    assert person.request(f"/c/{page.conversation}/archive/", archived="true")[0] == 200
    assert site.let_end(stored["reply"])["content"] == site.emitted()
    assert page.wait_for_end(stored["reply"])["state"] == "complete"
    assert site.database.value(ARCHIVED, page.conversation)


def test_the_reply_of_a_deleted_conversation_ends_and_does_not_bring_it_back(site, person, begun, chance):
    page, _, _, stored = begun
    assert person.request(f"/c/{page.conversation}/delete/", really="yes")[0] == 200
    assert site.wait_for_end(stored["reply"])["state"] == "stopped"
    assert site.upstream.wait_until_ended()["ended"] == "disconnected"
    assert site.database.value(DELETED, page.conversation)
    assert page.conversation not in person.request("/conversations/")[1]


def test_of_an_account_that_is_deleted_no_row_comes_back(site, person, begun, chance):
    _, _, content, stored = begun
    number = site.database.value(PERSON, person.person)
    person.request("/accounts/reauthenticate/", password=PASSWORD)
    person.request("/account/delete/", email=person.person)
    assert not site.database.rows(PERSON, person.person), "the account is deleted"
    assert site.upstream.wait_until_ended()["ended"] == "disconnected"
    site.wait_until_quiet()
    assert site.database.value(ROWS, content) == 0
    assert not site.database.rows("SELECT FROM conversations_message WHERE id = %s", stored["reply"])
    for key in site.database.rows(FOREIGN_KEYS):
        statement = f"SELECT count(*) FROM {key['place']} WHERE {key['name']} = %s"
        assert site.database.value(statement, number) == 0, key
    for each in site.pages:
        each.drop()
    site.pages.clear()  # what was acknowledged to them is gone
    site.upstream.reset()


@pytest.mark.parametrize("verb", ["edited", "made again"])
def test_a_change_of_the_path_from_another_page_waits_or_is_refused(site, begun, chance, verb):
    """Either the first reply is stopped and one new version streams, or the other page is told that one does."""
    page, other, content, stored = begun
    if verb == "edited":
        other.edit(stored["message"], f"in other words {content}", client_id=str(uuid.uuid4()))
    else:
        other.send("reply.regenerate", reply=stored["reply"])
    told = other.read_until(lambda frame: frame["type"] in ("message.stored", "reply.started", "error"), "an answer")
    if told["type"] == "error":
        assert told["code"] == "reply_in_progress"
    assert site.database.value(STREAMING, page.conversation) <= 1
    site.upstream.release()
    site.wait_until_quiet()
    replies = [stored["reply"], *([told["reply"]] if told["type"] != "error" else [])]
    assert {row["state"] for row in site.database.rows(STATES, replies)} <= {"complete", "stopped"}
