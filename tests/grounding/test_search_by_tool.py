"""A language model searches the documents once more, in the middle of its reply, as the worker makes it."""

from __future__ import annotations

import json

import pytest

from conversations.models import Completion, Message, Scenario
from tests.grounding.documents import store_document
from tests.grounding.timeouts import patient_searches  # noqa: F401  # a fixture
from tests.runs.conftest import upstream, worker  # noqa: F401  # fixtures
from tests.support.embeddings import embed_words
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("patient_searches")]
PASSAGE = "The bill for food is due in spring."
SCRIPT = {"calls": [[{"name": "search_documents", "arguments": {"words": "invoice caterer"}}]], "answer": "In spring."}


@pytest.fixture
def conversation(settings, upstream, transactional_db):  # noqa: F811
    upstream.reset()
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = upstream.base_url, "sk-test"
    settings.LANGUAGE_MODELS = "tools-script context_window=4096 encoding=o200k_base input_usd=1 output_usd=2"
    settings.OPENAI_EMBEDDING_BASE_URL = upstream.base_url
    settings.OPENAI_EMBEDDING_MODEL = "words input_usd=1 context_window=500 floor=0.9"
    conversation = begin(make_user("alice"))
    Scenario.objects.filter(pk=conversation.scenario_id).update(tools=["search_documents"])
    vectors = {"vectors": [embed_words("invoice caterer")], "embedding_model": "words", "embedded_count": 1}
    store_document(conversation, [PASSAGE], **vectors)
    return conversation


async def test_what_only_its_meaning_finds_is_told_and_paid_for(worker, conversation, upstream):  # noqa: F811
    posted = await in_thread(post, conversation, f"When is it due? {json.dumps(SCRIPT)}")
    reply = await wait_until(Message.objects.filter(pk=posted.reply.pk).exclude(state="streaming").first)
    assert (reply.state, reply.content) == ("complete", "In spring.")
    result = upstream.log()[-1]["body"]["messages"][-1]
    assert (result["role"], result["content"]) == ("tool", f"[guide.md]\n{PASSAGE}")
    for_question, for_call = await in_thread(list, Completion.objects.filter(purpose="embedding").order_by("id"))
    assert for_question.input_tokens > for_call.input_tokens == 2
    assert for_call.reserved_usd >= for_call.cost_usd > 0
