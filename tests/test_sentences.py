"""The sentences of errors in their reader's language: over HTTP and by the socket."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

from chatsite.accounts.preferences.reader_time_zone import reader_time_zone
from conversations.core.errors import ConversationError, MessageTooLong, MoneyUsedUp, ProviderTimedOut
from conversations.models import Message
from conversations.services.replies.end_reply import Ending, end_reply
from conversations.wording.error_sentences import ReaderLocale, error_sentence, stored_error_sentence
from tests.support.error_examples import CLASSES, example_of_error
from tests.support.people import begin, make_user, post
from tests.support.sockets import Page
from tests.support.waiting import in_thread

CHINESE = re.compile(r"[\u4e00-\u9fff]")
EMPTY_IN_CHINESE = "消息是空的，请先输入内容再发送。"
TIMED_OUT_IN_CHINESE = "语言模型响应超时，请重试。"
ENGLISH, CHINESE_READER = ReaderLocale("en"), ReaderLocale("zh-hans")
CHINESE_BROWSER = "zh-CN,zh;q=0.9,en;q=0.8"


# The sentence


@pytest.mark.parametrize("error", CLASSES)
def test_each_language_has_its_sentence(error):
    raised = example_of_error(error)
    told_to_programs = str(raised).replace("2026-03-04 21:30 UTC", "4 Mar 2026, 21:30 UTC")
    assert error_sentence(raised, ENGLISH) == told_to_programs
    assert CHINESE.search(error_sentence(raised, CHINESE_READER))


def test_figures_are_the_same_in_every_language():
    assert "31,405" in error_sentence(MessageTooLong(tokens_over=31_405), CHINESE_READER)


def test_what_another_version_stored_is_said_in_the_readers_language_too():
    assert stored_error_sentence("of_another_version", {}, CHINESE_READER) == error_sentence(
        ConversationError(), CHINESE_READER
    )


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("Asia/Shanghai", "22 Nov 2026, 08:00."),
        ("America%2FNew_York", "21 Nov 2026, 19:00."),
        ("", "22 Nov 2026, 00:00 UTC."),
        ("Not/A_Zone", "22 Nov 2026, 00:00 UTC."),
        ("../etc/passwd", "22 Nov 2026, 00:00 UTC."),
    ],
)
def test_when_it_opens_again_is_said_by_the_readers_clock(zone, said):
    used_up = MoneyUsedUp(opens_at=dt.datetime(2026, 11, 22, tzinfo=dt.UTC))
    assert error_sentence(used_up, ReaderLocale("en", reader_time_zone({"tz": zone}))).endswith(said)


def test_a_moment_of_today_is_said_without_its_date_and_never_too_early():
    zone = ZoneInfo("Asia/Kolkata")
    noon = dt.datetime.now(zone).replace(hour=12, minute=0, second=0, microsecond=1)
    assert ReaderLocale("en", zone).tell(noon) == ReaderLocale("zh-hans", zone).tell(noon) == "12:01"
    assert ReaderLocale("en", zone).tell(noon.replace(microsecond=0)) == "12:00"


def test_a_moment_of_another_day_is_said_with_its_date_in_the_form_of_the_language():
    moment = dt.datetime(2024, 2, 29, 23, 59, 30, tzinfo=dt.UTC)
    assert ReaderLocale("en").tell(moment) == "1 Mar 2024, 00:00 UTC"
    assert ReaderLocale("zh-hans", ZoneInfo("Asia/Shanghai")).tell(moment) == "2024年3月1日 08:00"


# Over HTTP


@pytest.fixture
def alice(client, transactional_db):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def send_nothing(client, conversation, languages, accept):
    address = reverse("conversations:post", args=[conversation.public_id])
    fields = {"content": "", "client_id": uuid.uuid4()}
    return client.post(address, fields, headers={"accept-language": languages, "accept": accept})


def failed_conversation(user, error_code="provider_timed_out", **error_params):
    """Return a conversation whose reply has failed."""
    posted = post(begin(user), "Hello")
    failed = {"state": "failed", "error_code": error_code, "error_params": error_params}
    Message.objects.filter(pk=posted.reply.pk).update(**failed)
    return posted.message.conversation


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_a_refusal_over_http_is_in_the_language_that_the_browser_asks_for(client, alice, accept):
    refused = send_nothing(client, begin(alice), CHINESE_BROWSER, accept)
    said = refused.json()["message"] if accept == "application/json" else refused.content.decode()
    assert refused.status_code == 400
    assert EMPTY_IN_CHINESE in said
    assert "Accept-Language" in refused["Vary"]


@pytest.mark.parametrize("languages", ["", "en-GB", "de,en;q=0.5", "zh-CN;q=x", "x" * 5_000, "zh\N{SNOWMAN}"])
def test_a_user_who_asks_for_another_language_or_nonsense_reads_english(client, alice, languages):
    refused = send_nothing(client, begin(alice), languages, "application/json")
    assert refused.json()["message"].startswith("There is nothing to send yet")


@pytest.mark.parametrize("name", ["conversation", "sync"])
def test_why_a_reply_failed_is_said_in_the_readers_language(client, alice, name):
    address = reverse(f"conversations:{name}", args=[failed_conversation(alice).public_id])
    answer = client.get(address, headers={"accept-language": CHINESE_BROWSER})
    shown = answer.json()["messages"][-1]["html"] if name == "sync" else answer.content.decode()
    assert TIMED_OUT_IN_CHINESE in shown


@pytest.mark.parametrize("name", ["conversation", "sync"])
def test_when_a_failed_reply_can_be_made_again_is_said_by_the_readers_clock(client, alice, name):
    conversation = failed_conversation(alice, "money_used_up", opens_at="2026-11-22T00:00:00+00:00")
    client.cookies["tz"] = "Asia%2FShanghai"
    answer = client.get(reverse(f"conversations:{name}", args=[conversation.public_id]))
    assert "It resets at 22 Nov 2026, 08:00." in answer.content.decode()


# By the socket


@pytest.fixture
async def pages(transactional_db):
    """Pages of one person: a Chinese browser's and an English one's."""
    user = await in_thread(make_user, "bob")
    opened = [await Page.open(user, languages) for languages in (CHINESE_BROWSER, "en")]
    yield user, *opened
    for page in opened:
        await page.communicator.disconnect()


async def test_a_refusal_by_the_socket_is_in_the_language_of_its_handshake(pages):
    user, chinese, english = pages
    conversation = await in_thread(begin, user)
    for page in (chinese, english):
        await page.send("message.post", conversation=conversation.public_id, client_id=uuid.uuid4(), content=" ")
    assert (await chinese.receive("error"))["message"] == EMPTY_IN_CHINESE
    assert (await english.receive("error"))["message"].startswith("There is nothing to send yet")


async def test_a_bad_frame_is_refused_in_the_language_of_its_handshake(pages):
    _, chinese, _ = pages
    await chinese.communicator.send_to(text_data="not JSON")
    assert CHINESE.search((await chinese.receive("error"))["message"])


async def test_each_page_reads_in_its_own_language_why_the_reply_failed_that_both_follow(pages):
    user, *both = pages
    conversation = await in_thread(begin, user)
    for page in both:
        await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
        await page.receive("conversation.snapshot")
    posted = await in_thread(post, conversation, "Hello")
    await in_thread(end_reply, posted.reply.pk, Ending.failed(ProviderTimedOut()))
    said = [await shown_after_the_failure(page, conversation) for page in both]
    assert TIMED_OUT_IN_CHINESE in said[0]
    assert "took too long to answer" in said[1]


async def shown_after_the_failure(page, conversation):
    """Ask for the stored truth as soon as the failure is told, as a page does."""
    await page.receive("reply.failed")
    await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    return (await page.receive("conversation.snapshot"))["messages"][-1]["html"]
