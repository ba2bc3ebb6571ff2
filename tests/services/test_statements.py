"""How many statements the beginning and the end of a reply take, BEGIN and COMMIT included: they must not grow unseen.

Counted for the second message of a conversation with a system prompt, sent by a page that does not follow it yet. While
50 replies are made at once, what these statements cost is what keeps the server from passing on text.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chatsite.accounts.models import SiteBudget
from conversations.core.money.usage import Usage
from conversations.models import Conversation, Message, Scenario
from conversations.runs.claim import claim_runs
from conversations.services.language_models.calibration import learn
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.ledger.reservations import WrittenText
from conversations.services.messages.post_message import post_message
from conversations.services.replies.complete_step import StepRequest, open_step
from conversations.services.replies.end_reply import EndText, end_answered
from conversations.services.replies.make_reply import _load_loop
from conversations.services.replies.reasoning import NO_REASONING
from conversations.sockets.consumers import _find_conversation
from conversations.tools.toolbox import scenario_toolbox
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db(transaction=True)
STATEMENTS = {
    "find": 3, "post": 9, "claim": 1, "begin": 2, "open": 7, "settle and end": 4,
}  # fmt: skip
ENDED = Outcome(text="Good morning.", usage=Usage(10, 3), finish_reason="stop")
WRITTEN = WrittenText(0, ENDED.text, 3, "", None, None)
TEXT = EndText(ENDED.text, 3)
Taken = dict[str, list[str]]  # the statements of each step


@contextmanager
def step(taken: Taken, name: str) -> Iterator[None]:
    with CaptureQueriesContext(connection) as queries:
        yield
    taken[name] = [query["sql"] for query in queries]


@pytest.fixture
def conversation(settings) -> Conversation:
    settings.LANGUAGE_MODELS = "letters context_window=8192 encoding=o200k_base input_usd=1 output_usd=2"
    settings.OPENAI_API_KEY = "x"
    learn("letters")  # which happens now and then, and not for each reply
    conversation = begin(make_user("alice"))
    Scenario.objects.filter(pk=conversation.scenario_id).update(system_prompt="You clean windows.")
    return conversation


@pytest.fixture
def talk(conversation) -> Callable[[], Taken]:
    """Return what sends a message, makes the reply, and returns the statements of each step."""
    browser = Client()
    browser.force_login(conversation.owner)
    session_key = browser.session.session_key

    def talk() -> Taken:
        taken: Taken = {}
        with step(taken, "find"):
            found = _find_conversation(session_key, conversation.public_id)
        with step(taken, "post"):
            posted = post_message(user=found.owner, conversation=found, content="Good morning?", client_id=uuid.uuid4())
        with step(taken, "claim"):
            assert claim_runs("worker", limit=1).runs
        with step(taken, "begin"):  # with the window: without documents there is nothing to look up
            loop = _load_loop(posted.reply.pk, lambda reply: scenario_toolbox(reply.conversation.scenario))
            assert loop.first
        with step(taken, "open"):
            completion = open_step(StepRequest(loop.first, holder=loop.holder), 1)
        end = partial(end_answered, loop.reply, TEXT, NO_REASONING, context=loop.first.model, attempt=1)
        end = partial(end, finish_reason=ENDED.finish_reason)
        with step(taken, "settle and end"):
            assert settle_completion(completion, ENDED, written=WRITTEN._replace(reply_id=posted.reply.pk), end=end)
        assert Message.objects.get(pk=posted.reply.pk).state == "complete"
        return taken

    return talk


def test_no_step_of_a_reply_takes_more_statements_than_it_needs(talk):
    talk()
    taken = talk()
    assert {name: len(statements) for name, statements in taken.items()} == STATEMENTS, taken


def test_where_money_is_limited_only_sending_takes_more(talk):
    """It looks for the price, for what is left, for documents and at the window: no message is stored in vain."""
    SiteBudget.objects.create(money_per_day_usd=1_000)
    talk()
    counts = {name: len(statements) for name, statements in talk().items()}
    assert counts == STATEMENTS | {"post": STATEMENTS["post"] + 4}


def test_a_long_conversation_takes_no_more(talk):
    for _ in range(6):
        taken = talk()
    assert {name: len(statements) for name, statements in taken.items()} == STATEMENTS


def test_tools_take_two_more_to_hold_back_what_may_follow(talk, conversation):
    Scenario.objects.filter(pk=conversation.scenario_id).update(tools=["calculator"])
    talk()
    counts = {name: len(statements) for name, statements in talk().items()}
    assert counts == STATEMENTS | {"open": STATEMENTS["open"] + 2}
