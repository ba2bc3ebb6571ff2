"""Lists of any length: nothing is counted without an end."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.admin import base_admin
from conversations.models import Message
from tests.admin.stored import make_conversation

LIST = reverse("admin:conversations_message_changelist")


@pytest.fixture
def _few_counted(monkeypatch):
    monkeypatch.setattr(base_admin, "MOST_COUNTED_ROWS", 60)


@pytest.mark.usefixtures("_few_counted")
def test_a_long_list_says_that_there_may_be_more(admin_browser, alice):
    make_conversation(alice, turns=31)
    page = admin_browser.get(LIST).content.decode()
    assert "60 or more" in page
    assert admin_browser.get(f"{LIST}?p=2").status_code == 200


@pytest.mark.usefixtures("_few_counted")
def test_counting_stops_at_the_cap(admin_browser, alice):
    make_conversation(alice)
    with CaptureQueriesContext(connection) as queries:
        admin_browser.get(LIST)
    counts = [query["sql"] for query in queries if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT 60" in sql for sql in counts)


def test_choices_of_filters_are_not_counted(admin_browser, queries_for, alice):
    make_conversation(alice)
    assert queries_for(f"{LIST}?_facets=True") == queries_for(LIST)
    assert "Show counts" not in admin_browser.get(LIST).content.decode()


def test_a_short_list_says_how_many_there_are(admin_browser, alice):
    make_conversation(alice)
    page = admin_browser.get(LIST).content.decode()
    assert "or more" not in page
    assert Message.objects.count() == 2


def test_the_list_of_conversations_is_read_in_its_order_and_not_sorted(admin_browser, alice):
    make_conversation(alice)
    with CaptureQueriesContext(connection) as queries:
        admin_browser.get(reverse("admin:conversations_conversation_changelist"))
    [listed] = [sql for query in queries if "message_count" in (sql := query["sql"]) and "COUNT(*)" not in sql]
    with connection.cursor() as cursor:
        # Few rows are sorted sooner than read by an index: whether many can be read by one is asked.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN {listed.replace('%', '%%')}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "conversation_newest" in plan
    assert "Sort Key" not in plan
