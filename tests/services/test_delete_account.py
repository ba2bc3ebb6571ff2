"""An account goes with all its words, wherever they are kept, and its amounts stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from functools import partial

import pytest
from allauth.account.models import EmailAddress
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import Sum
from django.utils import timezone

from chatsite.accounts.models import Invitation, Role, User
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Completion, Conversation, KeptText, Message, Run, Scenario, Spending, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.services.conversations.conversations import choose_scenario
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.conversations.deletion import sweep_deleted_conversations
from conversations.services.ledger.forget_sent_text import forget_sent
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.portability.delete_account import delete_account
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.documents import add, make_ready
from tests.support.ledger import locked_ledger, open_for
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step
from tests.support.waiting import wait_for_lock_waits

CANARY = "canaryinthecellar"
PRICES = UnitPrices(Decimal(1), Decimal(2), source="a test")
USED = Outcome(text="chirp", usage=Usage(100, 10), finish_reason="stop")
PORTIONS = (CANARY, CANARY.encode().hex())

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _locked(db):
    with locked_ledger():
        yield


@pytest.fixture
def alice():
    user = make_user(CANARY)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return user


def own_scenario(user, **fields):
    return Scenario.objects.create(owner=user, name=CANARY, system_prompt=f"You are {CANARY}.", **fields)


def talk(user, scenario=None, **fields):
    """Return a conversation of one question, and its settled row of the ledger."""
    conversation = begin(user)
    if scenario:
        choose_scenario(conversation, user=user, scenario_id=scenario.pk)
    conversation.refresh_from_db()
    posted = post(conversation, f"Where is {CANARY}?")
    completion = open_for(prepare_reply(posted.reply.pk), body=body_of(conversation.scenario), prices=PRICES, **fields)
    settle_completion(completion, USED)
    return conversation, completion


def body_of(scenario):
    system = [{"role": "system", "content": scenario.system_prompt}] if scenario.system_prompt else []
    return {"messages": [*system, {"role": "user", "content": CANARY}], "stop": [CANARY], "tools": [{"name": CANARY}]}


def tables() -> Iterator[tuple[str, str]]:
    """Yield every table, with all that is stored in it."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT string_agg(row_to_json(t)::text, chr(10)) FROM "{table}" t')
            yield table, cursor.fetchone()[0] or ""


def tables_with_the_canary():
    return {table for table, stored in tables() if any(portion in stored for portion in PORTIONS)}


def amounts():
    """Return what the ledger says was used and paid, which no deletion changes."""
    columns = ("pk", "language_model", "input_tokens", "output_tokens", "cost_usd", "created_at", "ended_at")
    return list(Completion.objects.order_by("pk").values_list(*columns))


def test_the_canary_is_seen_where_words_are_kept(alice):
    conversation, _ = talk(alice, own_scenario(alice))
    make_ready(add(alice, conversation, content=CANARY.encode()), CANARY)
    kept_in = {"accounts_user", "account_emailaddress", *(f"conversations_{name}" for name in (
        "message", "scenario", "kepttext", "completion", "conversation", "passage", "documentfile"
    ))}  # fmt: skip
    assert kept_in <= tables_with_the_canary()


def test_no_word_is_left_in_any_table(alice, client):
    client.force_login(alice)
    scenario = own_scenario(alice)
    conversation, _ = talk(alice, scenario)
    make_ready(add(alice, conversation, content=CANARY.encode()), CANARY)
    make_ready(add(alice, scenario, content=CANARY.encode()), CANARY)
    delete_account(alice)
    assert not tables_with_the_canary()


def call_tools(user):
    """Store a reply that has called tools: a step that is stored, and a call in each other state that there is."""
    reply = post(begin(user), f"Where is {CANARY}?").reply
    words = {"arguments": {"note": CANARY}, "result": CANARY}
    add_call(reply, **words)
    end_step(reply, text=CANARY)
    for state in ToolCallState:
        add_call(reply, CANARY, step=2, state=state, **words)
    return reply


def test_deleting_it_again_changes_nothing(alice):
    for _ in range(2):
        delete_account(alice)
    assert not User.objects.filter(pk=alice.pk).exists()


def test_no_word_of_a_tool_call_is_left(alice):
    reply = call_tools(alice)
    assert "conversations_toolcall" in tables_with_the_canary()
    end_reply(reply.pk, COMPLETE, content=CANARY)
    delete_account(alice)
    assert not tables_with_the_canary()


def test_a_reply_that_waits_for_a_decision_goes_with_its_account(alice):
    reply = call_tools(alice)
    Run.objects.filter(reply=reply).update(state="awaiting_approval", lease_until=timezone.now())
    delete_account(alice)
    assert not ToolCall.objects.exists()
    assert not tables_with_the_canary()


def test_a_swept_conversation_takes_its_tool_calls_along(alice):
    reply = call_tools(alice)
    end_reply(reply.pk, COMPLETE)
    Conversation.objects.update(deleted_at="2026-01-01T00:00Z")
    sweep_deleted_conversations()
    assert not ToolCall.objects.exists()
    assert not tables_with_the_canary() - {"accounts_user", "account_emailaddress"}


def test_its_amounts_stay(alice):
    talk(alice)
    before = amounts()
    delete_account(alice)
    assert amounts() == before
    assert Completion.objects.filter(user=None, conversation=None, cost_usd=Decimal("0.00012")).count() == 1


def test_the_sums_of_the_site_stay(alice):
    talk(alice)
    delete_account(alice)
    spent = Spending.objects.values_list("user", "period").annotate(Sum("spent_usd"))
    assert set(spent) == {(None, "day", Decimal("0.00012")), (None, "month", Decimal("0.00012"))}


def test_a_reply_that_is_being_made_is_stopped_and_settled_as_no_ones(alice):
    posted = post(begin(alice), "Where?")
    completion = open_for(prepare_reply(posted.reply.pk), prices=PRICES)
    delete_account(alice)
    assert settle_completion(completion, USED)
    completion.refresh_from_db()
    assert (completion.user, completion.cost_usd) == (None, Decimal("0.00012"))
    assert not Run.objects.exists()
    assert not Message.objects.exists()


def test_others_go_on_without_a_scenario_of_theirs(alice):
    bob = make_user("bob")
    scenario = own_scenario(alice, offered=True)
    conversation, _ = talk(bob, scenario)
    delete_account(alice)
    conversation.refresh_from_db()
    assert conversation.scenario == default_scenario()
    assert conversation.messages.count() == 2


def test_what_others_said_stays(alice):
    conversation, _ = talk(make_user("bob"))
    delete_account(alice)
    assert Conversation.objects.get() == conversation


def test_the_only_admin_stays(alice):
    User.objects.filter(pk=alice.pk).update(role=Role.ADMIN)
    conversation, _ = talk(alice)
    with pytest.raises(ValidationError, match="only admin"):
        delete_account(alice)
    assert list(Conversation.objects.all()) == [conversation]


def test_one_of_two_admins_may_go(alice):
    User.objects.filter(pk=alice.pk).update(role=Role.ADMIN)
    make_user("bob", role=Role.ADMIN)
    delete_account(alice)
    assert not User.objects.filter(pk=alice.pk).exists()


def test_the_admins_log_forgets_whom_it_was_about(alice):
    admin = make_user("bob", role=Role.ADMIN)
    other = make_user(f"the-{CANARY}")
    for words in (alice.email, f"limits of {alice.email}", other.email):
        LogEntry.objects.create(
            user=admin, content_type=ContentType.objects.get_for_model(User), object_repr=words, action_flag=CHANGE
        )
    delete_account(alice)
    assert list(LogEntry.objects.order_by("pk").values_list("object_repr", flat=True)) == ["", "", other.email]


def test_the_admins_log_forgets_earlier_addresses_and_what_hung_on_the_account(alice):
    admin = make_user("bob", role=Role.ADMIN)
    entry = {"user": admin, "content_type": ContentType.objects.get_for_model(User), "action_flag": CHANGE}
    limits = {"name": "limits", "object": alice.email, "fields": ["Messages per minute"]}
    message = json.dumps([{"added": {}}, {"changed": limits}])
    about = {"object_id": str(alice.pk), "object_repr": "before@example.org", "change_message": message}
    LogEntry.objects.create(**entry, **about)
    LogEntry.objects.create(**entry, **about | {"change_message": "Deactivated."})
    delete_account(alice)
    changed, deactivated = LogEntry.objects.order_by("pk")
    assert (changed.object_repr, deactivated.object_repr) == ("", "")
    assert (alice.email in changed.change_message, changed.get_change_message().count("limits")) == (False, 1)
    assert deactivated.change_message == "Deactivated."


def test_the_invitation_they_came_by_forgets_them(alice):
    used = {"used_by": alice, "used_at": timezone.now(), "note": CANARY}
    Invitation.objects.create(token_hash="a", email=alice.email, expires_at=timezone.now(), **used)
    delete_account(alice)
    assert Invitation.objects.values_list("email", "note").get() == ("", "")


def test_a_swept_conversation_takes_along_what_was_sent_for_it(alice):
    conversation, completion = talk(alice, own_scenario(alice))
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at="2026-01-01T00:00Z")
    sweep_deleted_conversations()
    completion.refresh_from_db()
    assert (completion.request, completion.messages_digest, completion.system_prompt) == ({}, "", None)
    assert tables_with_the_canary() == {"accounts_user", "account_emailaddress", "conversations_scenario"}


def test_a_system_prompt_stays_as_long_as_a_conversation_for_which_it_was_sent(alice):
    scenario = own_scenario(alice)
    (first, _), (second, _) = talk(alice, scenario), talk(alice, scenario)
    kept = KeptText.objects.filter(text=scenario.system_prompt)
    first.delete()
    assert kept.exists()
    second.delete()
    assert not kept.exists()


def test_tools_are_kept_once_for_all_who_send_the_same_and_as_long_as_one_is_there(alice):
    (first, row), (second, other) = talk(alice), talk(alice)
    assert json.loads(row.tool_schemas.text) == [{"name": CANARY}]
    assert row.tool_schemas_id == other.tool_schemas_id
    first.delete()
    assert KeptText.objects.count() == 1
    second.delete()
    assert not KeptText.objects.exists()


def closing(function, *arguments):
    """Call *function* in a thread of its own, which leaves no connection behind."""
    try:
        return function(*arguments)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_system_prompt_that_is_sent_again_at_that_moment_stays(alice):
    scenario = own_scenario(alice)
    old, _ = talk(alice, scenario)
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            _, new = talk(alice, scenario)
            deletion = crew.submit(closing, old.delete)
            wait_for_lock_waits(1)
        deletion.result(timeout=PATIENCE_SECONDS)
    new.refresh_from_db()
    assert new.system_prompt.text == scenario.system_prompt


@pytest.mark.django_db(transaction=True)
def test_no_one_waits_for_a_prompt_that_others_use(alice):
    scenario = own_scenario(alice)
    (first, _), (second, _) = talk(alice, scenario), talk(alice, scenario)
    end_reply(second.messages.get(state="streaming").pk, COMPLETE)
    prepared = prepare_reply(post(second, "And now?").reply.pk)
    with transaction.atomic(), ThreadPoolExecutor(1) as crew:
        forget_sent(first)
        crew.submit(closing, partial(open_for, prepared, body=body_of(scenario))).result(timeout=PATIENCE_SECONDS)
    assert Completion.objects.exclude(system_prompt=None).count() == 2


@transaction.atomic
def open_and_delete(prepared, user):
    """Delete the account after the row of the ledger is written and before it is stored."""
    open_for(prepared, prices=PRICES)
    with ThreadPoolExecutor(1) as crew:
        crew.submit(closing, delete_account, user).result(timeout=PATIENCE_SECONDS)


@pytest.mark.django_db(transaction=True)
def test_an_account_goes_while_a_first_request_opens(alice):
    prepared = prepare_reply(post(begin(alice), "Where?").reply.pk)
    with pytest.raises(IntegrityError):
        open_and_delete(prepared, alice)
    assert not tables_with_the_canary()
    assert not Completion.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_account_goes_while_another_request_opens(alice):
    """Each waits for the other: for the day's sum, and for the person. Whichever the database lets go on, both end."""
    talk(alice)
    prepared = prepare_reply(post(begin(alice), "Where?").reply.pk)
    with ThreadPoolExecutor(1) as crew:
        with suppress(IntegrityError, OperationalError), transaction.atomic():
            open_for(prepared, prices=PRICES)
            deletion = crew.submit(closing, delete_account, alice)
            wait_for_lock_waits(1)
        deletion.result(timeout=PATIENCE_SECONDS)
    assert not tables_with_the_canary()
    assert not Completion.objects.exclude(user=None).exists()
