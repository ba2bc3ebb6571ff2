"""Money: never more goes out than is left, and every request is paid exactly once, however it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from decimal import Decimal

import pytest

from tests.support.concurrent_users import at_once
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.source import PROJECT

from .browsers import Browser
from .conftest import checked
from .goals import DELETED_AT_PROVIDER
from .oracles import check_sums

SENDERS = 50
FOR_CROWDS = {"DATABASE_WAIT_SECONDS": "600"}  # the last of them has to wait, and on a slow machine for long
# A reply may cost 4,096 tokens at $2 a million and its prompt; "held-60" costs about 60 of them. So this is money for
# one reply at most, and too little for another one after it.
MONEY_FOR_ONE = "0.00825"
SPENT = "SELECT coalesce(max(spent_usd), 0) FROM conversations_spending WHERE user_id = %s AND period = 'day'"
STORED = "SELECT content FROM conversations_message WHERE id = %s"
USER = "SELECT id FROM accounts_user WHERE email = %s"
STREAMING = """
SELECT reply.id AS reply, conversation.public_id AS conversation FROM conversations_message AS reply
JOIN conversations_conversation AS conversation ON conversation.id = reply.conversation_id
WHERE reply.state = 'streaming'
"""
REFUSALS = {"money_used_up", "money_reserved"}


# Many at once


@pytest.fixture(scope="module")
def poor_site(make_site):
    """Two web processes, each with a worker, for people who have money for one reply."""
    with make_site(MONEY_PER_DAY_USD=MONEY_FOR_ONE, **FOR_CROWDS) as site:
        site.serve()
        site.addresses = [site.address, site.serve_beside()]
        yield site


def test_of_fifty_sent_at_once_with_money_for_one_one_goes_out(poor_site, chance):
    site = poor_site
    with checked(site):
        site.answer_with("held-60")
        browser = site.sign_up()
        senders = [sender(site, browser, index) for index in range(SENDERS)]
        answers = at_once(lambda send: send(), senders)
        stored = [answer["reply"] for answer in answers if "reply" in answer]
        wait_for(lambda: len(site.database.rows(STREAMING)) == 1, "all but one are refused")
        ends = [site.let_end(reply) for reply in stored]
        refused = [answer["code"] for answer in answers if "code" in answer] + [
            end["error_code"] for end in ends if end["state"] == "failed"
        ]
        assert [end["state"] for end in ends].count("complete") == 1
        assert len(refused) == SENDERS - 1
        assert set(refused) <= REFUSALS
        assert len(site.upstream.log()) == 1
        assert overspent(site, browser) <= 0


def sender(site, browser, index):
    """Return a function that sends to a conversation of its own: by HTTP or a socket, to either process."""
    conversation = site.begin(browser)
    there = Browser(site.addresses[index % 2], cookies=browser)
    if index % 4 < 2:
        return lambda: there.post(conversation, f"Tell me about {uuid.uuid4().hex[:8]}")[1]
    page = site.open_page(there, conversation)

    def send():
        page.post()
        return page.answer()

    return send


def overspent(site, browser):
    person = site.database.value(USER, browser.person)
    return site.database.value(SPENT, person) - Decimal(MONEY_FOR_ONE)


# A loop of nine requests may cost 12,288 tokens of input and 4,096 of output each, 0.02048: this is money for one.
MONEY_FOR_ONE_LOOP = "0.19"
LOOP = json.dumps({"calls": [[{"name": "calculator", "arguments": {"expression": "17 * 23"}}], [{"hang": True}]]})


def test_of_fifty_loops_at_once_with_money_for_one_one_is_begun(new_site):
    site = new_site(MONEY_PER_DAY_USD=MONEY_FOR_ONE_LOOP, **FOR_CROWDS)
    site.serve()
    site.answer_with("tools-script")
    site.give_tools("calculator")
    browsers = [site.browser, Browser(site.serve_beside(), cookies=site.browser)]
    senders = [(browsers[index % 2], site.begin()) for index in range(SENDERS)]
    answers = [answer for _, answer in at_once(lambda sender: sender[0].post(sender[1], LOOP), senders)]
    [looping] = wait_for(lambda: streaming_alone(site), "one loop goes on alone")
    assert sum("tools" in exchange["body"] for exchange in site.upstream.log()) == 2
    assert {answer.get("code") for answer in answers} - {None} <= REFUSALS
    browsers[0].stop(str(looping["conversation"]), looping["reply"])
    site.wait_for_end(looping["reply"])
    check_sums(site)


def streaming_alone(site):
    """Return the reply that is still being made once no other is, and its second request has left."""
    found = site.database.rows(STREAMING)
    steps = sum("tools" in exchange["body"] for exchange in site.upstream.log())
    return found if len(found) == 1 and steps >= 2 else None


# However it ends


def spent(site):
    """Return what the whole site has spent today."""
    return site.database.value(
        "SELECT coalesce(sum(spent_usd), 0) FROM conversations_spending WHERE user_id IS NULL AND period = 'day'"
    )


def test_stopping_just_before_the_usage_comes_costs_what_had_come(site, page):
    before = spent(site)
    reply = site.ask(page, "held-60")
    page.wait_for_text(reply, len(" ".join(f"word{number}" for number in range(60))))
    page.stop(reply)
    page.wait_for_end(reply)
    [row] = site.ledger(reply)
    assert (row["usage_estimated"], row["finish_reason"]) == (True, "stopped")
    assert spent(site) - before == row["cost_usd"] >= Decimal(60 * 2) / 1_000_000
    assert row["cost_usd"] < row["reserved_usd"]


def test_what_failed_before_it_was_billed_costs_nothing_and_what_was_tried_again_is_paid_once(site, page):
    before = spent(site)
    reply = site.ask(page, "status-503-times-1")
    assert site.wait_for_end(reply)["state"] == "complete"
    first, second = site.ledger(reply)
    assert (first["cost_usd"], first["error_code"]) == (0, "provider_unavailable")
    assert spent(site) - before == second["cost_usd"] > 0


def test_a_price_that_changes_meanwhile_holds_from_the_next_request_on(site, page):
    reply = site.ask(page, "held-60")
    site.database.rows(
        "INSERT INTO conversations_price (language_model, valid_from, input_usd, output_usd, note, created_at)"
        " VALUES (%s, current_date - 1, 100, 200, '', now())",
        "held-60",
    )
    try:
        site.let_end(reply)
        page.wait_for_end(reply)
        again = page.regenerate(reply)
        page.wait_for_text(again)
        site.let_end(again)
        [row], [dearer] = site.ledger(reply), site.ledger(again)
    finally:
        site.database.rows("DELETE FROM conversations_price")
    assert (row["output_price_usd"], dearer["output_price_usd"]) == (2, 200)
    assert row["cost_usd"] == priced(row, input_usd=1, output_usd=2)
    assert dearer["cost_usd"] == priced(dearer, input_usd=100, output_usd=200)


def priced(row, *, input_usd, output_usd):
    return Decimal(row["input_tokens"] * input_usd + row["output_tokens"] * output_usd) / 1_000_000


@pytest.mark.parametrize("language_model", ["usage-none", "usage-negative"])
def test_usage_that_is_missing_or_nonsense_is_estimated(site, page, language_model):
    reply = site.ask(page, language_model)
    assert site.wait_for_end(reply)["state"] == "complete"
    [row] = site.ledger(reply)
    assert row["usage_estimated"]
    assert row["cost_usd"] == priced(row, input_usd=1, output_usd=2) > 0


def test_usage_above_the_worst_case_is_spent_all_the_same(site, page):
    before = spent(site)
    reply = site.ask(page, "usage-7-9999999")
    assert site.wait_for_end(reply)["state"] == "complete"
    [row] = site.ledger(reply)
    assert row["cost_usd"] == priced(row, input_usd=1, output_usd=2) > row["reserved_usd"]
    assert spent(site) - before == row["cost_usd"]


def test_usage_that_no_column_holds_ends_no_reply(site, page):
    reply = site.ask(page, "usage-7-99999999999999")
    assert site.wait_for_end(reply)["state"] == "complete"
    [row] = site.ledger(reply)
    assert row["cost_usd"] is not None  # the oracles compare it with the sums


def test_what_a_page_says_of_price_language_model_and_length_is_not_heard(site, page, shared_browser):
    site.answer_with("ok")
    status, answer = shared_browser.json(
        f"/c/{page.conversation}/messages/post/",
        content="Tell me about prices",
        client_id=str(uuid.uuid4()),
        language_model="endless",
        model="endless",
        max_tokens="1",
        input_price_usd="0",
        reserved_usd="0",
        purpose="title",
    )
    assert status == 201
    site.wait_for_end(answer["reply"])
    [row] = site.ledger(answer["reply"])
    [exchange] = site.requests_about("Tell me about prices")
    assert (exchange["model"], exchange["body"]["max_tokens"]) == ("ok", 4_096)
    assert (row["input_price_usd"], row["purpose"]) == (1, "reply")
    assert row["reserved_usd"] > Decimal(4_096 * 2) / 1_000_000


def test_a_frame_that_names_a_price_is_refused_and_nothing_goes_out(site, page):
    page.send("message.post", content="Cheap", client_id=str(uuid.uuid4()), model="endless", max_tokens=1, price=0)
    answer = page.wait_for("message.stored", "error")
    assert (answer["type"], answer["code"]) == ("error", "frame_invalid")
    assert not site.requests_about("Cheap")
    assert not site.upstream.log()


# Who pays is gone


def test_a_killed_process_holds_no_money_back_for_ever(new_site, chance):
    site = new_site(MONEY_PER_DAY_USD=MONEY_FOR_ONE)
    process = site.serve()
    page = site.open_page()
    reply = site.ask(page, "endless")
    page.wait_for_text(reply, chance.randint(50, 800))
    wait_for(lambda: site.database.value(STORED, reply), "some of it is stored")  # else it would be made again
    process.kill()
    assert site.database.value("SELECT max(reserved_usd) FROM conversations_spending") > 0
    site.serve()
    assert site.wait_for_end(reply)["state"] == "interrupted"
    [row] = site.ledger(reply)
    assert spent(site) == row["cost_usd"] > 0
    check_sums(site)


DELETE_AND_TELL_WHEN = """
import time
from chatsite.accounts.models import User
User.objects.get(email={!r}).delete()
print(time.time())
"""


def test_a_person_who_is_deleted_meanwhile_leaves_a_settled_ledger_and_no_one_waiting(site):
    browser, before = site.sign_up(), spent(site)
    site.answer_with("endless")
    conversation = site.begin(browser)
    status, answer = browser.post(conversation, "Tell me about leaving")
    assert status == 201
    site.upstream.wait_for_requests(1)
    site.upstream.wait_for_more_tokens()
    [opened] = site.ledger(answer["reply"])
    deleted_at = float(manage(site, "shell", "--no-imports", "-c", DELETE_AND_TELL_WHEN.format(browser.person)))
    DELETED_AT_PROVIDER.measure(site.upstream.wait_until_ended()["ended_at"] - deleted_at)
    [row] = wait_for(lambda: settled(site, opened["id"]), "its request is settled")
    assert (row["user_id"], row["reply_id"]) == (None, None)
    assert spent(site) - before == row["cost_usd"] > 0
    assert browser.json(f"/c/{conversation}/sync/?from=0")[0] == 401
    site.upstream.reset()  # the message that it answered is gone


def settled(site, completion):
    return site.database.rows(
        "SELECT * FROM conversations_completion WHERE id = %s AND ended_at IS NOT NULL", completion
    )


def manage(site, *arguments):
    """Run a command of the site, as its operator does, and return what it prints."""
    command = [sys.executable, "manage.py", *arguments]
    environment = os.environ | site.settings
    return subprocess.run(
        command, cwd=PROJECT, env=environment, check=True, timeout=PATIENCE_SECONDS, stdout=subprocess.PIPE, text=True
    ).stdout
