"""Rolling summaries: written of what has left the window, sent from then on, and their owner's to change."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest

from chatsite.accounts.models import Limits
from conversations.core.errors import SummaryChanged, SummaryEmpty, SummaryTooLong
from conversations.core.prompt.summary_text import SO_FAR, SUMMARY_HEADER
from conversations.models import Completion, Message, Summary, SummaryState
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.selectors.conversations.sent_request import sent_request
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.forget_messages import forget_above, remember_everything
from conversations.services.messages.mark_message import exclude_message
from conversations.services.portability.conversation_json import conversation_json
from conversations.services.summaries import store_summary
from conversations.services.summaries.change_summary import edit_summary, summarise_conversation, undo_summary
from conversations.services.summaries.claim_summary import MOST_ATTEMPTS, claim_summary
from conversations.services.summaries.write_next_summary import write_next_summary
from tests.support.ledger import open_for
from tests.support.people import begin, make_user
from tests.support.summaries import begin_summarised, configure, current_of, say, slide, state_of, write_all
from tests.support.upstream import serve_upstream
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture(autouse=True)
def provider(settings, upstream, monkeypatch):
    upstream.reset()
    monkeypatch.setattr(store_summary, "PAUSES_SECONDS", (0.0, 0.0))
    settings.MESSAGES_PER_MINUTE = settings.REPLIES_PER_USER = 0
    configure(settings, upstream, "words-30", "held-20")


@pytest.fixture
async def conversation(transactional_db):
    return await in_thread(begin_summarised)


async def written(conversation, settings, number=0):
    """Talk until the window slides, and have the summary written."""
    number = await in_thread(slide, conversation, number)
    await write_all(settings)
    return number


def requests_for_summaries(upstream):
    return [each["body"]["messages"][-1]["content"] for each in upstream.log() if each["model"] == "words-30"]


async def test_it_goes_on_from_what_it_was_with_what_has_left_the_window_since(conversation, settings, upstream):
    number = await written(conversation, settings)
    first = await in_thread(current_of, conversation)
    await written(conversation, settings, number)
    second = await in_thread(current_of, conversation)
    [before, after] = requests_for_summaries(upstream)
    assert SO_FAR not in before
    assert after.startswith(f"{SO_FAR}\n\n{first.text}\n\n")
    assert "When does train 0 leave?" in before
    assert "When does train 0 leave?" not in after
    assert (first.number, second.number) == (1, 2)
    assert second.messages == await in_thread(messages_before, conversation, second)
    assert "said" in second.text


def messages_before(conversation, summary):
    return conversation.messages.filter(active=True, position__lt=summary.covers_before).count()


async def test_the_window_sends_it_and_the_request_can_be_rebuilt(conversation, settings):
    number = await written(conversation, settings)
    prepared = await in_thread(say, conversation, number)
    contents = [message.content for message in prepared.window.prompt]
    assert sum(content.startswith(SUMMARY_HEADER) for content in contents) == 1
    completion = await in_thread(sent, prepared)
    rebuilt = await in_thread(sent_request, completion)
    assert rebuilt.is_exact
    assert [message["content"] for message in rebuilt.body["messages"]] == contents


def sent(prepared):
    body = {"messages": [message.to_json() for message in prepared.window.prompt]}
    return open_for(prepared, body=body)


async def test_without_the_switch_nothing_is_written_or_sent(settings, upstream):
    plain = await in_thread(lambda: begin(make_user("bob")))
    number = await in_thread(slide, plain)
    assert await write_all(settings) == 0
    await in_thread(summarise_conversation, plain, summarises=True)
    assert await write_all(settings) == 1
    await in_thread(summarise_conversation, plain, summarises=False)
    prepared = await in_thread(say, plain, number)
    assert prepared.window.record.summary is None


async def test_what_its_owner_makes_of_it_is_gone_on_from_and_can_be_undone(conversation, settings, upstream):
    number = await written(conversation, settings)
    edited = await in_thread(edit_summary, conversation, version=1, text="  Ada goes to Bergen.\r\n ")
    assert (edited.number, edited.text, edited.edited) == (2, "Ada goes to Bergen.", True)
    prepared = await in_thread(say, conversation, number)
    assert any("Ada goes to Bergen." in message.content for message in prepared.window.prompt)
    await written(conversation, settings, number + 1)
    assert f"{SO_FAR}\n\nAda goes to Bergen.\n\n" in requests_for_summaries(upstream)[-1]
    back = await in_thread(undo_summary, conversation, version=3)
    assert back.number == 2
    assert await write_all(settings) == 0  # only the window's beginning makes it due again
    for wrong in (1, 3, 99):
        with pytest.raises(SummaryChanged):
            await in_thread(undo_summary, conversation, version=wrong)
    await in_thread(undo_summary, conversation, version=2)
    with pytest.raises(SummaryChanged):
        await in_thread(undo_summary, conversation, version=1)  # nothing was before it


async def test_no_edit_is_empty_or_too_long_to_be_sent(conversation, settings):
    await written(conversation, settings)
    with pytest.raises(SummaryEmpty):
        await in_thread(edit_summary, conversation, version=1, text=" \x00\n")
    with pytest.raises(SummaryTooLong):
        await in_thread(edit_summary, conversation, version=1, text="word " * 2_000)


async def test_an_edit_while_it_is_written_is_not_lost(conversation, settings, upstream):
    number = await written(conversation, settings)
    await in_thread(slide, conversation, number)
    settings.SUMMARY_MODEL = "held-20"
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    writing = asyncio.create_task(write_next_summary("test", client))
    await wait_until(lambda: len(upstream.log()[-1]["emitted"]) == 20)
    await in_thread(edit_summary, conversation, version=1, text="My own words.")
    upstream.release()
    await writing
    await client.aclose()
    assert (await in_thread(current_of, conversation)).text == "My own words."
    settings.SUMMARY_MODEL = "words-30"
    assert await write_all(settings) == 1
    assert f"{SO_FAR}\n\nMy own words.\n\n" in requests_for_summaries(upstream)[-1]


async def test_words_of_an_excluded_message_are_never_sent_again(conversation, settings, upstream):
    number = await written(conversation, settings)
    first = await in_thread(conversation.messages.get, position=0)
    await in_thread(exclude_message, conversation=conversation, message_id=first.pk, excluded=True)
    assert await in_thread(current_of, conversation) is None
    prepared = await in_thread(say, conversation, number)
    assert prepared.window.record.summary is None
    await write_all(settings)
    assert first.content not in requests_for_summaries(upstream)[-1]
    assert SO_FAR not in requests_for_summaries(upstream)[-1]
    assert (await in_thread(current_of, conversation)).number == 2


async def test_words_of_a_forgotten_message_are_never_sent_again(conversation, settings, upstream):
    number = await written(conversation, settings)
    first, third = [await in_thread(conversation.messages.get, position=position) for position in (0, 2)]
    await in_thread(forget_above, conversation=conversation, message_id=third.pk)
    assert await in_thread(current_of, conversation) is None
    number = await written(conversation, settings, number)
    assert first.content not in requests_for_summaries(upstream)[-1]
    assert SO_FAR not in requests_for_summaries(upstream)[-1]
    of_the_rest = await in_thread(current_of, conversation)
    await in_thread(remember_everything, conversation=conversation)
    assert await in_thread(current_of, conversation) is None
    await written(conversation, settings, number)
    assert first.content in requests_for_summaries(upstream)[-1]
    assert (await in_thread(current_of, conversation)).number > of_the_rest.number


async def test_after_another_path_was_taken_it_is_made_again(conversation, settings, upstream):
    number = await written(conversation, settings)
    edited = await in_thread(conversation.messages.get, position=2, active=True)
    posted = await in_thread(
        edit_message,
        user=conversation.owner,
        conversation=conversation,
        message_id=edited.pk,
        content="Something else?",
        client_id=uuid.uuid4(),
    )
    assert await in_thread(current_of, conversation) is None
    await in_thread(end_of, posted.reply)
    number = await in_thread(slide, conversation, number)  # back to the beginning first
    await written(conversation, settings, number)
    assert "Something else?" in requests_for_summaries(upstream)[-1]
    assert edited.content not in requests_for_summaries(upstream)[-1]


def end_of(reply):
    Message.objects.filter(pk=reply.pk).update(state="complete", content="Yes.", content_tokens=2)


async def test_without_money_the_one_before_stays_and_nothing_is_asked_for(conversation, settings, upstream):
    number = await written(conversation, settings)
    await in_thread(slide, conversation, number)
    await in_thread(forbid_spending, conversation.owner)
    assert await write_all(settings) == 1
    state = await in_thread(state_of, conversation)
    assert (state.due_at, bool(state.error_code)) == (None, True)
    assert (await in_thread(current_of, conversation)).number == 1
    assert len(requests_for_summaries(upstream)) == 1
    assert await in_thread(Completion.objects.filter(purpose=Purpose.SUMMARY).count) == 1


def forbid_spending(user):
    Limits.objects.update_or_create(user=user, defaults={"money_per_day_usd": 0})


async def test_a_worker_that_dies_again_and_again_is_an_end_of_it(conversation, settings):
    await in_thread(slide, conversation)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        found, held = await in_thread(claim_summary, "dead")
        assert (found, held.attempt) == (True, attempt)
        assert await in_thread(claim_summary, "another") == (False, None)
        await in_thread(let_the_lease_end)
    assert await in_thread(claim_summary, "another") == (True, None)
    state = await in_thread(state_of, conversation)
    assert (state.due_at, state.error_code) == (None, "summary_abandoned")


def let_the_lease_end():
    SummaryState.objects.update(lease_until="2026-01-01T00:00:00Z")


async def test_only_so_many_versions_are_kept(conversation, settings, monkeypatch):
    monkeypatch.setattr(store_summary, "MOST_VERSIONS", 3)
    await written(conversation, settings)
    for version in range(1, 6):
        await in_thread(edit_summary, conversation, version=version, text=f"Version {version + 1}.")
    assert await in_thread(numbers_of, conversation) == [4, 5, 6]


def numbers_of(conversation):
    return list(conversation.summaries.order_by("number").values_list("number", flat=True))


async def test_it_is_exported_and_deleted_with_its_conversation(conversation, settings):
    await written(conversation, settings)
    exported = json.loads("".join(await in_thread(lambda: list(conversation_json(conversation, {})))))
    [version] = exported["summaries"]
    assert (version["version"], version["current"]) == (1, True)
    await in_thread(conversation.delete)
    assert not await in_thread(Summary.objects.exists)
    assert not await in_thread(SummaryState.objects.exists)
