"""“What the model saw” and the request itself, as it was sent."""

from __future__ import annotations

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Message, Scenario
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.selectors.conversations.window import last_window
from conversations.services.api.api_keys import make_key
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db(transaction=True)
TOOLS = [{"type": "function", "function": {"name": "naïve", "parameters": {"type": "object"}}}]
TOKENS = {"input_tokens": 5, "cached_input_tokens": 0, "output_tokens": 2}
CALLED, ANSWERED = Outcome(called_tools=True, finish_reason="tool_calls"), Outcome(finish_reason="stop")


@pytest.fixture
def conversation(client, settings):
    settings.MESSAGES_PER_MINUTE = 0
    Scenario.objects.create(name="Kind", system_prompt="Be kind.", offered=True, is_default=True)
    conversation = begin(make_user("alice"))
    client.force_login(conversation.owner, "allauth.account.auth_backends.AuthenticationBackend")
    return conversation


def reply_to(conversation, content, *, attempts=1, **fields):
    """Let a reply be asked for, and return it with the JSON body of the request."""
    prepared = prepare_reply(post(conversation, content, **fields).reply.pk)
    record = prepared.window.record
    request = CompletionRequest(record.language_model, prepared.window.prompt, record.reply_reserve_tokens, tools=TOOLS)
    body = request.to_json()
    for attempt in range(1, attempts + 1):
        open_for(prepared, attempt=attempt, body=body)
    end_reply(prepared.reply.pk, COMPLETE, content=f"Reply to {content}")
    return prepared.reply, body


def get(client, name, reply, query=""):
    return client.get(reverse(f"conversations:{name}", args=[reply.conversation.public_id, reply.pk]) + query)


def test_the_request_is_the_json_that_was_sent(client, conversation):
    reply_to(conversation, "one")
    reply, body = reply_to(conversation, "two")
    answer = get(client, "request", reply)
    assert answer.json() == json.loads(json.dumps(body))
    assert answer.headers["X-Is-Exact"] == "yes"
    assert answer.text.startswith('{\n  "')


def test_a_scenario_that_changes_later_changes_nothing(client, conversation):
    reply, body = reply_to(conversation, "one")
    Scenario.objects.update(system_prompt="Be cruel.")
    assert get(client, "request", reply).json()["messages"] == body["messages"]


def test_the_page_says_that_the_request_is_what_was_sent_by_its_digest(client, conversation):
    reply, _ = reply_to(conversation, "one")
    page = get(client, "window", reply).text
    assert "word for word: its fingerprint matches the one recorded at the time." in page
    assert "This is not exactly what was sent" not in page
    assert "Each picture stands there as its digest." not in page


def test_of_a_request_with_pictures_it_says_that_each_is_a_digest(client, conversation):
    cat = store_picture(conversation)
    reply, _ = reply_to(conversation, "See", pictures=[cat.pk])
    assert "Each picture stands there as its digest." in get(client, "window", reply).text


def test_what_is_no_longer_exact_says_so(client, conversation):
    reply, _ = reply_to(conversation, "one")
    Message.objects.filter(content="one").update(content="something else")
    answer = get(client, "request", reply)
    assert answer.headers["X-Is-Exact"] == "no"
    assert "not-as-sent" in answer.headers["Content-Disposition"]
    assert "This is not exactly what was sent" in get(client, "window", reply).text


def test_each_request_for_a_reply_can_be_looked_at(client, conversation):
    reply, _ = reply_to(conversation, "one", attempts=2)
    assert 'aria-label="Requests for this reply"' in get(client, "window", reply, "?number=1").text
    names = [get(client, "request", reply, f"?number={n}").headers["Content-Disposition"] for n in (1, 2)]
    assert len(set(names)) == 2


def test_the_key_that_a_program_asked_with_is_named_and_takes_no_query(client, conversation):
    reply, _ = reply_to(conversation, "one")
    with CaptureQueriesContext(connection) as without:
        assert "Asked with the API key" not in get(client, "window", reply).text
    key = make_key(conversation.owner, name="Backup <script>").key
    Completion.objects.update(api_key=key)
    with CaptureQueriesContext(connection) as captured:
        page = get(client, "window", reply).text
    assert "Asked with the API key</dt><dd><bdi>Backup &lt;script&gt;</bdi>" in page
    assert len(captured) == len(without)


@pytest.mark.parametrize(("query", "status"), [("?number=0", 404), ("?number=2", 404), ("?number=x", 400)])
def test_a_request_that_was_not_made_is_not_found(client, conversation, query, status):
    reply, _ = reply_to(conversation, "one")
    assert get(client, "request", reply, query).status_code == status
    assert get(client, "window", reply, query).status_code == status


def test_the_rules_and_cuts_are_told_in_words(client, conversation):
    reply, _ = reply_to(conversation, "one")
    completion = Completion.objects.get()
    record = completion.window
    record["calibration"] = "1.08"
    record["anchor"], record["first_position"] = 0, 3
    record["entries"].append({"kind": "tool_step", "role": "tool", "tokens": 9, "truncated_to": 1_200})
    record["entries"][-1] |= {"message": None, "position": None}
    Completion.objects.update(window=record)
    page = get(client, "window", reply).text
    for words in (
        "Sliding: the newest messages that fit",
        "70%",
        "1.08",
        "starts 3 messages later",
        "first 1,200 characters",
        "Tool steps",
        "Be kind.",
    ):
        assert words in page


def test_the_account_says_what_a_million_tokens_cost_and_who_says_so(client, conversation):
    reply, _ = reply_to(conversation, "one")
    prices = {"input_price_usd": "0.15", "output_price_usd": "0.6", "cost_usd": "0.0000012"}
    Completion.objects.update(**prices, price_source="a list of 2026-11-21", ended_at=timezone.now(), **TOKENS)
    page = get(client, "window", reply).text
    for words in ("$0.15", "$0.60", "$0.00<small>00012", "Prices: a list of 2026-11-21."):
        assert words in page


def test_an_unknown_price_is_never_shown_as_nothing(client, conversation):
    reply, _ = reply_to(conversation, "one")
    unknown = {"input_price_usd": None, "output_price_usd": None, "cost_usd": None, "price_source": ""}
    Completion.objects.update(**unknown, ended_at=timezone.now(), **TOKENS)
    page = get(client, "window", reply).text
    assert page.count('<span class="unknown">unknown</span>') == 4  # two costs and two prices
    assert "The price of this language model is not known" in page
    assert "$0" not in page


def test_a_cost_that_is_not_settled_yet_says_so(client, conversation):
    reply, _ = reply_to(conversation, "one")
    assert get(client, "window", reply).text.count("not settled yet") == 2


@pytest.mark.parametrize(("cached", "said"), [(None, "not reported"), (0, "0"), (3, "3")])
def test_the_account_tells_tokens_that_are_not_reported_from_none(client, conversation, cached, said):
    reply, _ = reply_to(conversation, "one")
    settled = {"usage_estimated": False, "ended_at": timezone.now()}
    Completion.objects.update(**TOKENS | {"cached_input_tokens": cached, **settled})
    assert f"<dt>Of that, from the provider’s cache</dt><dd>{said}</dd>" in get(client, "window", reply).text


@pytest.mark.parametrize(
    ("tokens", "cached", "other"), [(None, "not reported", "none reported"), (0, "0", "none reported"), (2, "2", "2")]
)
def test_the_facts_name_every_number_and_claim_no_report_that_is_none(client, conversation, tokens, cached, other):
    reply, _ = reply_to(conversation, "one")
    parts = dict.fromkeys(("cached_input_tokens", "cache_write_tokens", "reasoning_tokens"), tokens)
    Completion.objects.update(**TOKENS | parts, usage_estimated=False, ended_at=timezone.now())
    page = get(client, "window", reply).text
    facts = dict(re.findall(r'<dt class="stamp">([^<]+)</dt><dd[^>]*>([^<]+)</dd>', page))
    assert (facts["Input tokens"], facts["Output tokens"]) == ("5", "2")
    assert facts["Input from the cache"] == cached
    assert facts["Written to the cache"] == facts["Output for reasoning"] == other
    assert f"<dt>Of that, written to the provider’s cache</dt><dd>{other}</dd>" in page
    assert f"<dt>Of that, reasoning</dt><dd>{other}</dd>" in page


def test_what_was_written_to_the_cache_is_in_the_account(client, conversation):
    reply, _ = reply_to(conversation, "one")
    Completion.objects.update(
        **TOKENS | {"cache_write_tokens": 3}, cache_write_price_usd="1.25", ended_at=timezone.now()
    )
    assert "$1.25" in get(client, "window", reply).text


@pytest.fixture
def stepped(conversation):
    """A reply that called a tool, was asked for again at its second step, and then answered; with its bodies."""
    Scenario.objects.update(tools=["calculator"])
    reply, bodies = post(conversation, "What is 17 × 23?").reply, []
    for step, attempts, answer in ((1, 1, CALLED), (2, 2, ANSWERED)):
        for attempt in range(1, attempts + 1):
            prepared = prepare_reply(reply.pk)
            bodies.append(body_of(prepared))
            completion = open_for(prepared, attempt=attempt, body=bodies[-1], step=step)
            settle_completion(completion, answer)
        if step == 1:
            add_call(reply, arguments={"expression": "17 * 23"}, result="391")
            end_step(reply)
    end_reply(reply.pk, COMPLETE, content="It is 391.")
    return reply, bodies


def body_of(prepared):
    record, schemas = prepared.window.record, prepared.toolbox.schemas
    request = CompletionRequest(
        record.language_model, prepared.window.prompt, record.reply_reserve_tokens, tools=schemas
    )
    return request.to_json()


def test_while_a_step_is_the_newest_request_the_thread_is_drawn_by_its_window(stepped):
    reply, _ = stepped
    Completion.objects.filter(step=2).delete()
    record = WindowRecord.from_json(Completion.objects.get(purpose="tool_step").window)
    assert last_window(reply.conversation) == record


def test_people_go_from_step_to_step(client, stepped):
    pages = [get(client, "window", stepped[0], f"?number={number}").text for number in (1, 2, 3)]
    assert ["1 of 2 <small>called tools" in page for page in pages] == [True, False, False]
    assert ["2 of 2 <small>answered" in page for page in pages] == [False, True, True]
    assert all(">2 again</a>" in page for page in pages)


def test_calls_and_results_are_in_the_order_in_which_they_were_sent_and_lead_to_the_reply(client, stepped):
    reply, _ = stepped
    page = get(client, "window", reply).text
    order = [page.index(words) for words in ("Tool call", "calculator({", "Tool result", ">391<")]
    assert order == sorted(order)
    assert page.count(f'data-go-to="{reply.pk}"') == 2
    assert '<dt class="stamp">Messages in view</dt><dd>1</dd>' in page


def test_tools_and_tool_steps_are_parts_of_the_picture(client, stepped):
    page = get(client, "window", stepped[0]).text
    assert '<p class="row-excerpt">calculator</p>' in page
    assert 'class="part part-tools"' in page
    assert 'class="part part-tool_steps"' in page


def test_each_step_is_the_json_that_was_sent_with_its_tools(client, stepped):
    reply, bodies = stepped
    for number, body in enumerate(bodies, start=1):
        answer = get(client, "request", reply, f"?number={number}")
        assert (answer.headers["X-Is-Exact"], answer.json()) == ("yes", json.loads(json.dumps(body)))
    assert bodies[0]["tools"][0]["function"]["name"] == "calculator"


def test_a_tool_call_of_an_older_reply_is_called_what_it_is(client, conversation, stepped):
    reply, _ = reply_to(conversation, "Thank you")
    page = get(client, "window", reply).text
    assert page.count("Tool call<") == 1
    assert "<dd>3</dd>" in page  # messages in view


def test_money_that_withheld_the_tools_is_said_under_the_reply_and_in_its_window(client, conversation):
    reply, _ = reply_to(conversation, "one")
    words = "the remaining allowance did not cover"
    thread = reverse("conversations:conversation", args=[conversation.public_id])
    assert words not in client.get(thread).text + get(client, "window", reply).text
    Completion.objects.update(window=Completion.objects.get().window | {"tools_withheld": "money"})
    assert words in client.get(thread).text
    assert words in get(client, "window", reply).text
