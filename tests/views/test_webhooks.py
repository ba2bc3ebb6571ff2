"""The webhook of a key on the account page and in the admin: set, shown once, tested, removed, and in whose hands."""

from __future__ import annotations

import html
import re
import uuid

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.models import SecurityEvent
from conversations.models import Webhook
from conversations.services.api.api_keys import make_key, revoke_key
from conversations.services.webhooks.deliveries import secret_of
from conversations.services.webhooks.webhooks import send_test, set_webhook
from tests.access_matrix.world import session_of
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.org/secret-path"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]{40,}")


def browser_of(user, settings):
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session_of(user)
    return client


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice, settings):
    """A browser in which Alice has just reauthenticated."""
    return browser_of(alice, settings)


@pytest.fixture
def key(alice):
    return make_key(alice, name="My program").key


@pytest.fixture
def address(key):
    return reverse("conversations:api_key_webhook", args=[key.public_id])


def words(answer):
    return html.unescape(answer.content.decode())


def test_a_secret_is_shown_once(client, key, address):
    shown = SECRET.search(words(client.post(address, {"url": URL, "action": "save"})))[0]
    webhook = Webhook.objects.get(api_key=key)
    assert (webhook.url, secret_of(webhook)) == (URL, shown)
    assert not SECRET.search(words(client.get(address)))
    client.post(address, {"url": URL + "/2", "action": "save"})
    webhook.refresh_from_db()
    assert (webhook.url, secret_of(webhook)) == (URL + "/2", shown)
    another = SECRET.search(words(client.post(address, {"action": "secret"})))[0]
    webhook.refresh_from_db()
    assert secret_of(webhook) == another != shown
    event = SecurityEvent.objects.filter(kind="webhook_set").first()
    assert event.about == f"key {key.pk}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "This field is required"),
        ("http://hooks.example.org/", "begins with https://"),
        ("https://10.0.0.1/", "WEBHOOK_HOSTS"),
        ("https://me:pw@hooks.example.org/", "without a user name and password"),
    ],
)
def test_an_address_that_may_not_be_sent_to_is_refused(client, key, address, url, said):
    answer = client.post(address, {"url": url, "action": "save"})
    assert answer.status_code == 400
    assert said in words(answer)
    assert not Webhook.objects.exists()


def test_an_address_that_may_not_be_sent_to_any_more_gets_no_new_secret(client, key, address, settings):
    settings.WEBHOOK_HOSTS = ["10.0.0.1"]
    client.post(address, {"url": "http://10.0.0.1/", "action": "save"})
    before = secret_of(Webhook.objects.get(api_key=key))
    settings.WEBHOOK_HOSTS = []
    answer = client.post(address, {"action": "secret"})
    assert (answer.status_code, "Nothing is sent there" in words(answer)) == (400, True)
    assert secret_of(Webhook.objects.get(api_key=key)) == before


def test_a_test_says_what_became_of_it(client, key, address):
    webhook = set_webhook(key, URL).webhook
    client.post(address, {"action": "test"})
    client.post(address, {"action": "test"})
    assert webhook.deliveries.count() == 1
    assert "Waiting" in words(client.get(address))
    webhook.deliveries.update(attempt=1, status=500, error="status", due_at=timezone.now())
    page = words(client.get(address))
    assert "To be tried again" in page
    assert "It answered with HTTP status 500, not with a 2xx." in page
    assert "It answered with HTTP status 500" in words(client.get(reverse("conversations:api_keys")))


def test_events_are_told_apart_by_what_they_tell_of(client, key, address):
    webhook = set_webhook(key, URL).webhook
    send_test(webhook)
    assert "webhook-event-id" not in words(client.get(address))
    webhook.deliveries.update(data={"id": "resp_1"}, event_type="response.completed")
    assert ">resp_1</code>" in words(client.get(address))
    webhook.deliveries.update(data={"id": "budget_key_day_2026-11-28", "percent": 80})
    assert ">budget_key_day_2026-11-28 · 80 %</code>" in words(client.get(address))


def test_one_that_is_gone_says_how_to_switch_it_on(client, key, address):
    webhook = set_webhook(key, URL).webhook
    Webhook.objects.update(disabled_at=timezone.now())
    assert "Send a test event to switch it on" in words(client.get(address))
    client.post(address, {"action": "test"})
    webhook.refresh_from_db()
    assert webhook.disabled_at is None


def test_it_is_removed_with_what_waits(client, key, address):
    send_test(set_webhook(key, URL).webhook)
    client.post(address, {"action": "remove"})
    assert not Webhook.objects.exists()
    assert "Make the webhook" in words(client.get(address))


def test_only_the_owner_of_a_key_in_use_finds_it(client, key, address, settings):
    set_webhook(key, URL)
    stranger = browser_of(make_user("bob"), settings)
    for action in ("save", "test", "secret", "remove"):
        assert stranger.post(address, {"url": "https://evil.example.org/", "action": action}).status_code == 404
    assert Webhook.objects.get().url == URL
    assert client.get(reverse("conversations:api_key_webhook", args=[uuid.uuid4()])).status_code == 404
    revoke_key(key)
    assert client.get(address).status_code == 404


def test_setting_one_asks_for_reauthentication(alice, key, address):
    alice.set_password("correct-horse-battery")
    alice.save()
    stale = Client()
    stale.force_login(alice)
    assert stale.post(address, {"url": URL, "action": "save"}).status_code == 302
    assert not Webhook.objects.exists()


def test_an_admin_sees_the_host_and_may_send_a_test(key, settings):
    webhook = set_webhook(key, URL)
    admin = browser_of(make_user("ada", role="admin"), settings)
    listed = words(admin.get(reverse("admin:conversations_webhook_changelist")))
    page = words(admin.get(reverse("admin:conversations_webhook_change", args=[webhook.webhook.pk])))
    for shown in (listed, page):
        assert "hooks.example.org" in shown
        assert "alice@example.org" in shown
        assert "secret-path" not in shown
        assert webhook.secret not in shown
    admin.post(reverse("admin:conversations_webhook_test", args=[webhook.webhook.pk]))
    assert webhook.webhook.deliveries.count() == 1
