"""Pages of a share: who reads them, what they say, and that everything that opens nothing looks the same."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import Conversation, Share
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.portability import share_storage
from conversations.services.portability.share_conversation import share_conversation
from conversations.services.portability.shared_rows import ShareChoices
from conversations.services.portability.shares import change_end, revoke_share
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.views.portability import shared_pages
from tests.admin.stored import make_completion
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture

pytestmark = pytest.mark.django_db
ALL = ShareChoices(*[True] * 6)


@pytest.fixture
def alice(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return make_user("alice")


@pytest.fixture
def talk(alice):
    return begin(alice)


def answer(talk, question, content="Fine", *, window=False, **posted):
    found = post(Conversation.objects.select_related("scenario").get(pk=talk.pk), question, **posted)
    if window:
        record = prepare_reply(found.reply.pk).window.record.to_json()
        make_completion(talk.owner, reply=found.reply, window=record, cost_usd="0.0987")
    end_reply(found.reply.pk, COMPLETE, content=content)
    return found


def share(talk, **fields):
    fields = {"title": "Lofoten in March", "message_id": None} | fields
    return share_conversation(user=talk.owner, conversation=talk, **fields)


def address(made, page="shared", *more):
    return reverse(f"conversations:{page}", args=[made.token, *more])


def client_of(user=None):
    client = Client()
    if user:
        client.force_login(user)
    return client


def test_by_default_it_is_read_by_who_is_signed_in(talk):
    answer(talk, "Is there **snow**?", "*Lots*")
    made = share(talk)
    refused = client_of().get(address(made))
    assert refused.status_code == 302
    assert refused.headers["Location"].startswith("/accounts/login/?next=/s/")
    page = client_of(make_user("bob")).get(address(made))
    assert "<strong>snow</strong>" in page.text
    assert "Lofoten in March" in page.text
    assert "Continue as my copy" in page.text


def test_a_stranger_learns_by_no_answer_whether_a_link_is_right(talk):
    answer(talk, "One")
    right, wrong = (client_of().get(f"/s/{token}/") for token in (share(talk).token, "x" * 32))
    assert right.status_code == wrong.status_code == 302


def test_where_anyone_may_it_is_read_without_an_account(talk, settings):
    settings.SHARES = "anyone"
    answer(talk, "One")
    page = client_of().get(address(share(talk)))
    assert page.status_code == 200
    assert "Continue as my copy" not in page.text
    assert "Sign in to continue" in page.text


def test_no_page_of_it_is_kept_or_found(talk, settings):
    settings.SHARES = "anyone"
    answer(talk, "One", window=True, pictures=[store_picture(talk).pk])
    made = share(talk, shown=ALL)
    picture = made.share.messages.get(number=1).picture_ids[0]
    for path in (address(made), address(made, "shared_window", 2), address(made, "shared_picture", picture)):
        response = client_of().get(path)
        assert response.status_code == 200
        assert response["X-Robots-Tag"] == "noindex, nofollow, noarchive"
        assert response["Referrer-Policy"] == "same-origin"
        assert response["Cache-Control"] == "private, no-store"
    assert '<meta name="robots" content="noindex' in client_of().get(address(made)).text


def _revoked(made):
    revoke_share(made.share)


def _over(made):
    change_end(made.share, timezone.now() - dt.timedelta(seconds=1))


def _deleted(made):
    delete_conversation(made.share.conversation)


def _account_is_inactive(made):
    type(made.share.owner).objects.filter(pk=made.share.owner_id).update(is_active=False)


@pytest.mark.parametrize("spoil", [_revoked, _over, _deleted, _account_is_inactive])
def test_everything_that_opens_nothing_looks_the_same(talk, settings, spoil):
    settings.SHARES = "anyone"
    answer(talk, "One", window=True)
    made = share(talk, shown=ALL)
    assert client_of().get(address(made)).status_code == 200
    spoil(made)
    wrong = "x" * len(made.token)
    for page, more in (("shared", ()), ("shared_window", (2,)), ("shared_picture", (1,))):
        ended, guessed = (
            client_of().get(reverse(f"conversations:{page}", args=[token, *more])) for token in (made.token, wrong)
        )
        assert (ended.status_code, guessed.status_code) == (404, 404)
        texts = [
            re.sub(r'value="[A-Za-z0-9]{64}"', "", answer.text.replace(token, ""))
            for answer, token in ((ended, made.token), (guessed, wrong))
        ]
        assert texts[0] == texts[1]
        assert "This link leads nowhere" in texts[0]
        assert dict(ended.headers).keys() == dict(guessed.headers).keys()


def test_no_log_has_a_token(talk, settings, caplog):
    settings.SHARES = "anyone"
    answer(talk, "One")
    made = share(talk)
    caplog.set_level("INFO")
    client_of().get(address(made))
    _deleted(made)
    client_of().get(address(made))
    assert made.token not in caplog.text


def test_where_sharing_is_off_no_link_works(talk, settings, alice):
    answer(talk, "One")
    made = share(talk)
    settings.SHARES = "off"
    assert client_of(alice).get(address(made)).status_code == 404
    assert client_of(alice).get(reverse("conversations:share", args=[talk.public_id])).status_code == 409
    assert "Share" not in client_of(alice).get(reverse("conversations:conversation", args=[talk.public_id])).text


def test_guessing_is_limited_and_locks_no_reader_out(talk, settings, monkeypatch):
    settings.SHARES = "anyone"
    monkeypatch.setattr(shared_pages, "WRONG_TOKENS", shared_pages.Limit(3, dt.timedelta(minutes=10)))
    answer(talk, "One")
    made = share(talk)
    assert {client_of().get(address(made)).status_code for _ in range(6)} == {200}
    assert [client_of().get("/s/wrong/").status_code for _ in range(4)] == [404, 404, 404, 429]
    assert client_of().get("/s/wrong/").status_code == 429
    assert {client_of().get(address(made)).status_code for _ in range(4)} == {200}
    _revoked(made)
    assert client_of().get(address(made)).status_code == 429


def test_a_conversation_is_shared_up_to_a_reply_and_to_an_own_message(talk, alice):
    first, _ = answer(talk, "One"), answer(talk, "Two")
    for last, count in ((first.message, 1), (first.reply, 2)):
        menu = client_of(alice).get(reverse("conversations:message_menu", args=[talk.public_id, last.pk])).text
        link = reverse("conversations:share_up_to", args=[talk.public_id, last.pk])
        assert f'href="{link}"' in menu
        assert client_of(alice).post(link, {"title": "Up to here"}).status_code == 302
        assert Share.objects.latest("pk").message_count == count


def test_a_form_that_is_refused_says_why_and_keeps_what_was_typed(talk, alice, settings, monkeypatch):
    monkeypatch.setattr(share_storage, "BYTES_PER_MEGABYTE", 1)
    settings.SHARE_STORAGE_MEGABYTES = 1
    answer(talk, "One")
    form = {"title": "Lofoten, all of it", "shows_tools": "on"}
    page = client_of(alice).post(reverse("conversations:share", args=[talk.public_id]), form)
    assert page.status_code == 413
    assert "may hold 1 MB of text together" in page.text
    assert 'value="Lofoten, all of it"' in page.text
    assert 'name="shows_tools" checked' in page.text
    assert not Share.objects.exists()


def test_what_was_not_chosen_has_no_address(talk, settings):
    settings.SHARES = "anyone"
    picture = store_picture(talk)
    other = store_picture(begin(talk.owner), b"other")
    answer(talk, "One", window=True, pictures=[picture.pk])
    plain, full = share(talk), share(talk, shown=ALL)
    assert client_of().get(address(plain, "shared_window", 2)).status_code == 404
    assert client_of().get(address(plain, "shared_picture", picture.pk)).status_code == 404
    assert client_of().get(address(full, "shared_picture", picture.pk)).status_code == 200
    assert client_of().get(address(full, "shared_picture", other.pk)).status_code == 404
    assert client_of().get(address(full, "shared_window", 1)).status_code == 404
    assert "A picture that is not shared" in client_of().get(address(plain)).text


def test_a_window_shows_tokens_and_no_money(talk, settings):
    settings.SHARES = "anyone"
    answer(talk, "One", window=True)
    made = share(talk, shown=ShareChoices(shows_windows=True))
    page = client_of().get(address(made, "shared_window", 2)).text
    assert "In the order it was sent" in page
    assert "0.09" not in page
    assert "$" not in page
    assert talk.scenario.system_prompt not in page or not talk.scenario.system_prompt


def test_openings_by_others_are_counted_once_a_visit(talk, alice):
    answer(talk, "One")
    made = share(talk)
    for user in (alice, make_user("bob"), make_user("carol")):
        client_of(user).get(address(made))
    client_of(make_user("dan")).head(address(made))
    assert Share.objects.get().opened == 2


def test_a_long_one_is_read_in_pages(talk, alice, monkeypatch):
    monkeypatch.setattr(shared_pages, "MESSAGES_OF_A_PAGE", 4)
    for number in range(5):
        answer(talk, f"Question {number}")
    made = share(talk)
    first = client_of(alice).get(address(made)).text
    assert "Question 1" in first
    assert "Question 2" not in first
    assert "?from=5" in first
    last = client_of(alice).get(address(made), {"from": 9}).text
    assert "9 to 10 of 10" in last
    assert client_of(alice).get(address(made), {"from": "x"}).status_code == 400


def test_a_page_of_long_messages_has_fewer_of_them(talk, alice, monkeypatch):
    """Anyone may ask for it, and to draw a hundred messages of a million characters takes minutes."""
    monkeypatch.setattr(shared_pages, "BYTES_OF_A_PAGE", 1_000)
    for number in range(3):
        answer(talk, f"Question {number}", "long " * 500)
    made, seen, start = share(talk), [], 1
    while start:
        page = client_of(alice).get(address(made), {"from": start}).text
        seen += re.findall(r'id="message-(\d+)"', page)
        start = next(iter(re.findall(r'rel="next" href="[^"]*from=(\d+)"', page)), None)
    assert seen == ["1", "2", "3", "4", "5", "6"]


def test_a_copy_is_the_readers_own(talk):
    answer(talk, "One")
    made, bob = share(talk), make_user("bob")
    response = client_of(bob).post(address(made, "continue_share"))
    copy = Conversation.objects.get(owner=bob)
    assert response.headers["Location"] == f"/c/{copy.public_id}/"
    assert client_of(talk.owner).get(f"/c/{copy.public_id}/").status_code == 404
    assert client_of().post(address(made, "continue_share")).headers["Location"].startswith("/accounts/login/")


def test_it_is_made_listed_changed_revoked_and_deleted(talk, alice):
    answer(talk, "One")
    client = client_of(alice)
    form = reverse("conversations:share", args=[talk.public_id])
    assert "What others will read" in client.get(form).text
    day = (timezone.now() + dt.timedelta(days=3)).date().isoformat()
    fields = {"title": "Trip", "ends_on": day, "shows_windows": "on", "owner_name": "on"}
    made = client.post(form, fields, follow=True)
    share = Share.objects.get()
    assert made.redirect_chain[-1][0] == f"/account/shares/#share-{share.public_id}"
    assert (share.title, share.shows_windows, share.shows_documents, share.owner_name) == ("Trip", True, False, "Alice")
    assert re.search(r"<code>http[^<]+/s/[\w-]{32}/</code>", made.text)
    assert "opened 0 times" in made.text
    client.post(reverse("conversations:change_share", args=[share.public_id]), {"ends_on": ""})
    share.refresh_from_db()
    assert share.ends_at is None
    assert "Revoked" in client.post(reverse("conversations:revoke_share", args=[share.public_id]), follow=True).text
    client.post(reverse("conversations:delete_share", args=[share.public_id]))
    assert not Share.objects.exists()


@pytest.mark.parametrize(("ends_on", "status"), [("2001-01-01", 400), ("0000-01-01", 400), ("tomorrow", 400)])
def test_an_end_that_can_not_be_shares_nothing_and_keeps_what_was_chosen(talk, alice, ends_on, status):
    answer(talk, "One")
    form = reverse("conversations:share", args=[talk.public_id])
    fields = {"title": "My trip", "ends_on": ends_on, "shows_tools": "on"}
    response = client_of(alice).post(form, fields)
    assert response.status_code == status
    assert not Share.objects.exists()
    if ends_on == "2001-01-01":
        assert 'value="My trip"' in response.text
        assert 'name="shows_tools" checked' in response.text


def test_while_a_reply_is_written_the_form_says_what_is_left_out(talk, alice):
    answer(talk, "One")
    writing = post(Conversation.objects.select_related("scenario").get(pk=talk.pk), "Two")
    page = client_of(alice).get(reverse("conversations:share_up_to", args=[talk.public_id, writing.reply.pk])).text
    assert "A reply is being written" in page
    assert f"/messages/{writing.message.pk}/share/" in page
