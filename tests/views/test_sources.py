"""The passages behind a reply, the line under it, and a question that is asked again more narrowly."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from django.urls import reverse

from conversations.core.window.window_record import GroundingPassage, GroundingRecord, LookUp
from tests.admin.stored import make_completion, make_conversation, make_record, say
from tests.rendering.payloads import PAYLOADS
from tests.support.people import make_user

HOSTILE = "\n".join(PAYLOADS).replace("\0", "")  # which no text has that comes out of a document
GROUNDING = [
    {"text": "Rain in May.", "source": "weather.md › Spring", "score": 1.0},
    {"text": f"Snow. {HOSTILE}", "source": HOSTILE, "score": 0.9},
    {"text": "", "source": "gone.md", "score": 0.8},
    *({"text": f"Left out {number}", "source": "more.md"} for number in range(6)),
]
INCLUDED = (GroundingPassage(2, 0.9, truncated_to=5), GroundingPassage(1, 1.0), GroundingPassage(3, 0.8))


@pytest.fixture
def conversation(client, db):
    conversation = make_conversation(make_user("alice"), turns=0)
    client.force_login(conversation.owner, "allauth.account.auth_backends.AuthenticationBackend")
    return conversation


def reply_with(conversation, *, left_out=0, included=INCLUDED, **look_up):
    """Store a question with what was found for it, and a reply that cites it."""
    others = tuple(GroundingPassage(number, None) for number in range(4, 4 + left_out))
    record = GroundingRecord(included=included, left_out=others, look_up=LookUp(**{"documents": 2, **look_up}))
    say(conversation, "user", "What <weather> & when?", grounding=GROUNDING)
    reply = say(conversation, "assistant", "It rains [2].")
    make_completion(conversation.owner, reply=reply, window=window_with(record))
    return reply


def window_with(grounding):
    return make_record().to_json() | {"grounding": asdict(grounding)}


def page_of(client, conversation, query=""):
    return client.get(reverse("conversations:conversation", args=[conversation.public_id]) + query)


def sources_of(client, reply, **headers):
    return client.get(reverse("conversations:sources", args=[reply.conversation.public_id, reply.pk]), headers=headers)


def test_the_passages_are_a_page_and_a_piece_of_one(client, conversation):
    reply = reply_with(conversation, left_out=1)
    page, piece = sources_of(client, reply).text, sources_of(client, reply, hx_request="true").text
    assert "<!doctype html>" in page.lower()
    assert piece.lstrip().startswith('<ol class="passages">')
    for words in ("weather.md › Spring", "Rain in May.", "Left out 0", "Deleted document", "the rest did not fit"):
        assert words in page
        assert words in piece


def test_passages_have_the_numbers_that_the_reply_cites_them_by(client, conversation):
    piece = sources_of(client, reply_with(conversation, left_out=2), hx_request="true").text
    assert [piece.count(f'data-passage="{number}"') for number in range(5)] == [0, 1, 1, 1, 0]
    assert piece.index('data-passage="1"') < piece.index("Snow.") < piece.index('data-passage="2"')


def test_what_a_document_says_is_text_and_nothing_else(client, conversation):
    piece = sources_of(client, reply_with(conversation), hx_request="true").text
    assert "<script" not in piece
    assert "<img" not in piece
    assert "&lt;script" in piece


@pytest.mark.parametrize(
    ("looked_up", "words"),
    [
        ({"left_out": 6}, ["Sources: 3 of 9 matching passages fit in the window", "Ask again more narrowly"]),
        ({"left_out": 2}, ["Sources: 3 of 5 matching passages fit in the window"]),
        ({}, ["Sources: 3 passages"]),
        ({"included": ()}, ["Nothing in your 2 documents matches this question"]),
        ({"included": (), "documents": 0, "pending_documents": 1}, ["One document was still being read", "Ask again"]),
        ({"semantic_error": "provider_unavailable"}, ["Searched by words only. The"]),
        ({"lexical_error": "look_up_too_costly"}, ["Sources: 3 passages", "Not everything was searched. There"]),
        ({"included": (), "lexical_error": "look_up_too_costly"}, ["Not everything was searched. There"]),
        ({"included": (), "documents": 0, "web_results": 0}, ["The web search found nothing"]),
        (
            {"web_results": 0, "web_error": "web_search_unreachable"},
            ["Sources: 3 passages", "The web search could not be reached, so this was answered without it."],
        ),
    ],
)
def test_the_line_under_a_reply_says_what_was_found(client, conversation, looked_up, words):
    reply_with(conversation, **looked_up)
    page = page_of(client, conversation).text
    assert [each for each in words if each not in page] == []
    assert ("Ask again more narrowly" in page) == ("Ask again more narrowly" in words)


WEB = {"text": "They wade.", "source": f"Herons {HOSTILE}", "score": 1.0}


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://birds.example/heron?a=1&b=2", 'href="https://birds.example/heron?a=1&amp;b=2"'),
        ("http://birds.example/", 'href="http://birds.example/"'),
        ("javascript:alert(1)", ""),
        ('https://x.example/"><script>', 'href="https://x.example/&quot;&gt;&lt;script&gt;"'),
    ],
)
def test_a_passage_of_the_web_links_to_its_page_and_to_nothing_else(client, conversation, monkeypatch, url, link):
    monkeypatch.setattr(f"{__name__}.GROUNDING", [WEB | {"url": url}])
    reply = reply_with(conversation, included=(GroundingPassage(1, 1.0),), documents=0, web_results=1)
    panel = client.get(reverse("conversations:window", args=[conversation.public_id, reply.pk])).text
    for shown in (sources_of(client, reply, hx_request="true").text, panel):
        assert shown.count(f'{link} target="_blank" rel="noopener noreferrer nofollow"') == bool(link)
        assert 'href="javascript' not in shown
        assert "<script>alert" not in shown


def test_a_reply_that_nothing_was_looked_up_for_has_no_line(client, conversation):
    make_completion(conversation.owner, reply=reply_with(conversation), window=window_with(GroundingRecord()))
    page = page_of(client, conversation).text
    assert 'class="sources"' not in page
    assert "data-citation=" not in page


def test_a_question_asked_again_stands_in_the_composer_with_a_hint(client, conversation):
    reply_with(conversation, left_out=6)
    page = page_of(client, conversation, "?narrow=0").text
    assert "What &lt;weather&gt; &amp; when?</textarea>" in page
    assert 'role="status" data-hint>' in page
    assert "data-hint hidden" in page_of(client, conversation).text


@pytest.mark.parametrize(("query", "status"), [("?narrow=1", 404), ("?narrow=99", 404), ("?narrow=x", 400)])
def test_only_a_question_can_be_asked_again(client, conversation, query, status):
    reply_with(conversation)
    assert page_of(client, conversation, query).status_code == status


def test_the_panel_has_the_same_numbers_and_says_how_it_was_looked_up(client, conversation):
    reply = reply_with(conversation, left_out=6)
    panel = client.get(reverse("conversations:window", args=[conversation.public_id, reply.pk])).text
    assert "[2] <bdi>weather.md › Spring</bdi>" in panel
    assert "Sources: 3 of 9 matching passages fit in the window" in panel
    assert "Its document has been deleted." in panel


NOTHING = "Nothing in your 2 documents matches this question"


def test_that_nothing_matches_is_said_once_and_in_each_window(client, conversation):
    replies = [reply_with(conversation, included=()) for _ in range(3)]
    assert page_of(client, conversation).text.count(NOTHING) == 1
    for reply in replies:
        window = client.get(reverse("conversations:window", args=[conversation.public_id, reply.pk])).text
        assert NOTHING in window


def test_that_nothing_matches_is_said_again_after_a_reply_that_has_sources(client, conversation):
    for included in ((), (), INCLUDED, (), ()):
        reply_with(conversation, included=included)
    assert page_of(client, conversation).text.count(NOTHING) == 2


@pytest.mark.parametrize("included", [(), INCLUDED])
def test_a_piece_of_the_thread_knows_what_was_said_before_it(client, conversation, included):
    reply_with(conversation, included=included)
    reply = reply_with(conversation, included=())
    address = reverse("conversations:sync", args=[conversation.public_id])
    for position in (reply.position, reply.position - 1):
        shown = client.get(address, {"from": position}).json()["messages"]
        assert shown[-1]["html"].count(NOTHING) == bool(included)
