"""What the pages and snapshots of a conversation ask the database: few statements, and no SQL is written for them."""

from __future__ import annotations

import pytest
from django.db.models.sql.compiler import SQLCompiler
from django.urls import reverse

from conversations.models import Conversation
from conversations.services.conversations.folders import create_folder
from tests.support.people import begin, make_user, post, post_answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    return alice


@pytest.fixture
def written(monkeypatch):
    """The SQL that Django writes, and not that of subqueries in it."""
    found: list[str] = []
    as_sql = SQLCompiler.as_sql

    def noted(self, *args, **kwargs):
        sql, params = as_sql(self, *args, **kwargs)
        if not self.query.subquery:
            found.append(sql)
        return sql, params

    monkeypatch.setattr(SQLCompiler, "as_sql", noted)
    return found


def make_empty(alice) -> Conversation:
    return begin(alice)


def make_full(alice) -> Conversation:
    folder = create_folder(alice, name="Work")
    conversation = begin(alice)
    for number in range(3):
        post_answered(conversation, f"Question {number}")
    inside = begin(alice)
    post(inside, "In a folder")
    Conversation.objects.filter(pk=inside.pk).update(folder=folder)
    return conversation


@pytest.mark.parametrize(("make", "most"), [(make_empty, 5), (make_full, 12)])
def test_a_page_that_was_asked_for_before_writes_no_sql_and_asks_little(
    client, alice, written, django_assert_max_num_queries, make, most
):
    address = reverse("conversations:conversation", args=[make(alice).public_id])
    for _ in range(2):
        assert client.get(address).status_code == 200
    written.clear()
    with django_assert_max_num_queries(most):
        client.get(address)
    assert written == []


def addresses_beside(conversation: Conversation) -> list[str]:
    """Return what is asked for around the page of a conversation: a new one, and more of the thread and of the list."""
    public_id = conversation.public_id
    return [
        reverse("conversations:new"),
        reverse("conversations:thread", args=[public_id]) + "?before=3",
        reverse("conversations:list"),
        reverse("conversations:list") + f"?before=2030-01-01T00:00:00Z~{public_id.hex}",
        reverse("conversations:place", args=[public_id]),
        reverse("conversations:map", args=[public_id]),
    ]


def test_nor_is_sql_written_for_what_is_asked_for_around_it(client, alice, written):
    for address in addresses_beside(make_full(alice)):
        for _ in range(2):
            assert client.get(address, headers={"hx-request": "true"}).status_code == 200
        written.clear()
        client.get(address, headers={"hx-request": "true"})
        assert (address, written) == (address, [])


@pytest.mark.parametrize(("make", "most"), [(make_empty, 8), (make_full, 9)])
def test_so_does_a_snapshot(client, alice, written, django_assert_max_num_queries, make, most):
    address = reverse("conversations:sync", args=[make(alice).public_id])
    for _ in range(2):
        assert client.get(address).status_code == 200
    written.clear()
    with django_assert_max_num_queries(most):
        client.get(address)
    assert written == []
