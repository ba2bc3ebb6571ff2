"""Replies that call tools cost what their steps cost, and never more than there is: made by a worker, to the end."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.utils import timezone

from chatsite.accounts.models import Limits
from conversations.models import Completion, LedgerSum, Message, Run, Scenario, Spending
from conversations.selectors.conversations.reply_costs import COST_COLUMNS, CostRow, reply_cost, with_reply_cost
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from conversations.services.ledger.recompute_spending import recompute_spending
from conversations.services.ledger.reservations import requests_after, worst_loop_usd
from conversations.services.replies.approve_tool_call import decide_call
from conversations.services.replies.stop_reply import stop_reply
from tests.services.spending import PRICES, limit, sums
from tests.support.awaiting_approval import SIDE_EFFECTS, decision
from tests.support.people import begin, make_user, post
from tests.support.side_effects import NOTES_FILE
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SUM = {"name": "calculator", "arguments": {"expression": "17 * 23"}}
TWO_STEPS = json.dumps({"calls": [[SUM], [SUM, SUM]], "answer": "It is 391."})
FOR_EVER = json.dumps({"calls": [[SUM]]})
HANGS = json.dumps({"calls": [[SUM], [{"hang": True}]]})
WRITES = json.dumps({"calls": [[{"name": "write_down", "arguments": {"note": "a note"}}]], "answer": "Done."})


@pytest.fixture
def alice(provider):
    provider("tools-script")
    return make_user("alice")


def ask(person, question=TWO_STEPS, *tools):
    conversation = begin(person)
    Scenario.objects.filter(pk=conversation.scenario_id).update(tools=list(tools) or ["calculator"])
    conversation.refresh_from_db()
    return post(conversation, question).reply


def allow(call):
    decide_call(**decision(call))


async def ended(reply):
    return await wait_until(lambda: Message.objects.filter(pk=reply.pk).exclude(state="streaming").first())


async def answer_to(person, question=TWO_STEPS):
    return await ended(await in_thread(ask, person, question))


def rows_of(reply):
    """Return the requests of a reply: step, purpose and cost."""
    return list(Completion.objects.filter(reply=reply).order_by("pk").values_list("step", "purpose", "cost_usd"))


def loop_usd(step=1):
    """Return the most that the requests can cost that may follow *step*."""
    return worst_loop_usd(Scenario(), PRICES, requests=requests_after(step))


def spent_and_held(person):
    row = Spending.objects.get(user=person, period="day")
    return row.spent_usd, row.reserved_usd


def check_sums():
    assert not recompute_spending()
    assert not recompute_ledger_sums()
    assert not {reserved for _, reserved in sums().values()} - {0}


async def test_each_step_is_a_completion_of_its_own_and_all_of_them_are_the_replys_cost(worker, alice):
    reply = await answer_to(alice)
    rows = await in_thread(rows_of, reply)
    assert [(step, purpose) for step, purpose, _ in rows] == [(1, "tool_step"), (2, "tool_step"), (3, "reply")]
    newest = with_reply_cost(Completion.objects.filter(reply=reply)).order_by("-pk").values_list(*COST_COLUMNS)
    cost = reply_cost(CostRow(*await in_thread(newest.first)))
    assert (cost.requests, cost.cost_usd) == (3, sum(usd for *_, usd in rows))
    assert await in_thread(spent_and_held, alice) == (cost.cost_usd, 0)
    await in_thread(check_sums)


async def test_a_loop_is_one_reply_in_every_figure(worker, alice):
    await answer_to(alice)
    rows = await in_thread(list, LedgerSum.objects.values_list("purpose", "replies", "completions"))
    assert sorted(rows) == [("reply", 0, 1), ("tool_step", 1, 2)]


async def test_what_each_request_sent_is_kept_once(worker, alice):
    reply = await answer_to(alice)
    rows = await in_thread(list, Completion.objects.filter(reply=reply).select_related("tool_schemas"))
    assert len({row.tool_schemas_id for row in rows}) == 1
    assert json.loads(rows[0].tool_schemas.text)[0]["function"]["name"] == "calculator"
    assert not any("tools" in row.request for row in rows)


async def test_a_model_that_calls_for_ever_has_to_answer_within_the_bound(worker, alice, provider, settings, upstream):
    settings.TOOL_STEPS = 3
    provider("tools-forever")
    reply = await answer_to(alice, FOR_EVER)
    rows = await in_thread(rows_of, reply)
    assert (reply.state, [purpose for _, purpose, _ in rows]) == ("complete", [*["tool_step"] * 3, "reply"])
    assert [exchange["body"].get("tool_choice") for exchange in upstream.log()] == [None, None, None, "none"]
    assert sum(usd for *_, usd in rows) <= await in_thread(loop_usd, 0)
    await in_thread(check_sums)


async def test_a_model_that_calls_though_it_may_not_is_paid_and_not_heard(worker, alice, provider, settings):
    settings.TOOL_STEPS = 1
    provider("tools-despite-none")
    reply = await answer_to(alice, FOR_EVER)
    assert (reply.state, reply.error_code) == ("failed", "tool_steps_used_up")
    assert len(await in_thread(rows_of, reply)) == 2
    await in_thread(check_sums)


# With little money


@pytest.mark.parametrize(("missing_usd", "requests"), [(Decimal(0), 4), (Decimal("0.000001"), 1)])
async def test_exactly_the_money_of_the_whole_loop_is_enough_for_it(
    worker, alice, provider, settings, missing_usd, requests
):
    settings.TOOL_STEPS = 3
    provider("tools-forever")
    first = await in_thread(Completion.objects.get, reply=await answer_to(alice, FOR_EVER), step=1)
    money_usd = first.reserved_usd + await in_thread(loop_usd) - missing_usd
    bob = await in_thread(make_user, "bob")
    await in_thread(limit, bob, money_per_day_usd=money_usd)
    reply = await answer_to(bob, FOR_EVER)
    assert (reply.state, len(await in_thread(rows_of, reply))) == ("complete", requests)


async def test_where_the_loop_is_not_covered_the_reply_is_made_without_tools(worker, alice, upstream):
    await in_thread(limit, alice, money_per_day_usd=Decimal("0.005"))
    reply = await answer_to(alice)
    [completion] = await in_thread(list, Completion.objects.filter(reply=reply))
    assert (reply.state, reply.content) == ("complete", "It is 391.")
    assert "tools" not in upstream.log()[-1]["body"]
    assert (completion.window["tools_withheld"], completion.window["tool_schema_tokens"]) == ("money", 0)
    assert (completion.tool_schemas_id, completion.attempt) == (None, 1)
    await in_thread(check_sums)


async def test_where_not_even_an_answer_is_covered_nothing_is_sent(worker, alice, upstream):
    posted = await in_thread(ask, alice, HANGS)
    await wait_until(lambda: len(upstream.log()) == 2)
    await in_thread(limit, alice, money_per_day_usd=Decimal("0.004"))
    refused = await ended(await in_thread(ask_without_looking, alice))
    assert (refused.state, refused.error_code) == ("failed", "money_reserved")
    assert len(upstream.log()) == 2
    await in_thread(stop_reply, conversation=posted.conversation, reply_id=posted.pk)
    await ended(posted)
    await in_thread(check_sums)


def ask_without_looking(person):
    """Ask as if there had been money in the moment in which it was posted."""
    money = Limits.objects.filter(user=person)
    before = money.get().money_per_day_usd
    with transaction.atomic():  # or the worker may begin the reply before there is none again
        money.update(money_per_day_usd=None)
        reply = ask(person)
        money.update(money_per_day_usd=before)
    return reply


async def test_of_many_loops_at_once_with_money_for_one_nothing_is_overspent(worker, alice, upstream):
    money_usd = Decimal("0.04")  # a loop of nine requests may cost 0.046 and does cost a hundredth of that
    await in_thread(limit, alice, money_per_day_usd=money_usd, replies_at_once=50, messages_per_minute=50)
    replies = [await in_thread(ask_without_looking, alice) for _ in range(50)]
    ends = [await ended(reply) for reply in replies]
    assert {end.error_code for end in ends} <= {"", "money_reserved", "money_used_up"}
    assert any(end.state == "complete" for end in ends)
    spent_usd, held_usd = await in_thread(spent_and_held, alice)
    assert (spent_usd <= money_usd, held_usd) == (True, 0)
    await in_thread(check_sums)


# Stopped, and waiting


async def test_a_loop_that_is_stopped_gives_back_what_it_held(worker, alice, upstream):
    reply = await in_thread(ask, alice, HANGS)
    await wait_until(lambda: len(upstream.log()) == 2)
    assert (await in_thread(spent_and_held, alice))[1] > await in_thread(loop_usd, 2)
    await in_thread(stop_reply, conversation=reply.conversation, reply_id=reply.pk)
    assert (await ended(reply)).state == "stopped"
    assert [step for step, *_ in await in_thread(rows_of, reply)] == [1, 2]
    await in_thread(check_sums)


@pytest.fixture
def _writing(settings, monkeypatch, tmp_path):
    settings.TOOL_MODULES = SIDE_EFFECTS
    monkeypatch.setenv(NOTES_FILE, str(tmp_path / "notes"))


@pytest.mark.usefixtures("_writing")
async def test_a_reply_that_waits_for_its_person_holds_its_money_until_it_ends(worker, alice):
    reply = await in_thread(ask, alice, WRITES, "write_down")
    await wait_until(lambda: Run.objects.filter(reply=reply, state="awaiting_approval").exists())
    assert (await in_thread(spent_and_held, alice))[1] == await in_thread(loop_usd)
    await in_thread(allow, await in_thread(reply.calls.get))
    assert (await ended(reply)).content == "Done."
    await in_thread(check_sums)


@pytest.mark.usefixtures("_writing")
async def test_a_reply_that_is_stopped_while_it_waits_gives_back_its_money(worker, alice):
    reply = await in_thread(ask, alice, WRITES, "write_down")
    await wait_until(lambda: Run.objects.filter(reply=reply, state="awaiting_approval").exists())
    await in_thread(stop_reply, conversation=reply.conversation, reply_id=reply.pk)
    assert (await ended(reply)).state == "stopped"
    await in_thread(check_sums)


def let_a_day_pass(reply):
    """Let what is held for *reply* have been held back yesterday."""
    Run.objects.filter(reply=reply).update(reserved_at=timezone.now() - dt.timedelta(days=1))
    assert recompute_spending()


@pytest.mark.usefixtures("_writing")
async def test_a_loop_that_the_next_day_does_not_cover_ends_in_an_answer_with_what_it_has(worker, alice, upstream):
    reply = await in_thread(ask, alice, WRITES, "write_down")
    await wait_until(lambda: Run.objects.filter(reply=reply, state="awaiting_approval").exists())
    await in_thread(let_a_day_pass, reply)
    await in_thread(limit, alice, money_per_day_usd=Decimal("0.005"))
    await in_thread(allow, await in_thread(reply.calls.get))
    assert (await ended(reply)).content == "Done."
    answer = await in_thread(Completion.objects.get, reply=reply, step=2)
    body = upstream.log()[-1]["body"]
    assert (body["tool_choice"], len(body["tools"]), answer.window["tools_withheld"]) == ("none", 1, "money")
    await in_thread(check_sums)


def parts_of_each_transaction():
    """Return which parts of the site's sum of the day each transaction was the last to write."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT array_agg(part) FROM conversations_spending WHERE user_id IS NULL AND period = 'day' "
            "GROUP BY xmin::text"
        )
        return [parts for (parts,) in cursor.fetchall()]


@transaction.atomic
def ask_with_what_is_left(person):
    """Ask; the run has what an attempt before it reserved, and the scenario has lost its tools since."""
    reply = ask(person, json.dumps({"answer": "It is 391."}), "calculator")
    Scenario.objects.update(tools=[])
    Run.objects.filter(reply=reply).update(payer=person, reserved_usd=Decimal(1), reserved_at=timezone.now())
    return reply


async def test_no_transaction_writes_two_parts_of_the_sites_sum(worker, alice):
    """Two that do so in other orders would wait for each other."""
    for _ in range(3):
        reply = await ended(await in_thread(ask_with_what_is_left, alice))
        assert reply.state == "complete"
        assert [parts for parts in await in_thread(parts_of_each_transaction) if len(parts) > 1] == []
