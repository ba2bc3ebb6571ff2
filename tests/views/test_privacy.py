"""The privacy page: the site's own words above what its settings say, for all, without an account."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.models import McpServer, PrivacyNotice
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
PRIVACY = reverse("conversations:privacy")


@pytest.fixture
def page(client):
    return lambda: client.get(PRIVACY).content.decode()


def test_without_words_of_the_site_it_says_what_the_settings_say(page, settings):
    settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = ""
    shown = page()
    assert "No provider is connected" in shown
    assert "You see who did, when and why" in shown
    assert "own words were last changed" not in shown


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("OPENAI_BASE_URL", "https://models.example.net:8443/v1", "models.example.net"),
        ("OPENAI_API_KEY", "sk-test", "api.openai.com"),
        ("WEB_SEARCH_URL", "http://search.example.net", "search.example.net"),
        ("OIDC_SERVER_URL", "https://id.example.net/realms/team", "id.example.net"),
        ("CONVERSATION_READING", "off", "can’t open the conversations of others"),
        ("READINGS_SHOWN_TO_OWNERS", False, "which is recorded"),
        ("SHARES", "off", "can’t be shared"),
        ("SHARES", "anyone", "anyone who has the link"),
        ("RETENTION_DAYS", 45, "deleted after 45 days"),
        ("DELETED_CONVERSATION_DAYS", 1, "restored for 1 day;"),
        ("SECURITY_LOG_DAYS", 7, "for 7 days"),
    ],
)
def test_it_changes_with_the_settings(page, settings, name, value, said):
    assert said not in page()
    setattr(settings, name, value)
    assert said in page()


def test_passages_go_to_the_endpoint_of_embeddings(page, settings):
    settings.OPENAI_BASE_URL, settings.OPENAI_EMBEDDING_MODEL = "https://models.example.net/v1", "small"
    settings.OPENAI_EMBEDDING_BASE_URL = "https://vectors.example.net/v1"
    assert "are sent to vectors.example.net, to find" in page()
    settings.LOCAL_EMBEDDINGS = "/models/small"
    assert "vectors.example.net" not in page()


def test_servers_of_tools_are_named_while_they_are_enabled(page):
    server = McpServer.objects.create(name="shop", url="https://tools.example.net/mcp")
    assert "tools.example.net" in page()
    McpServer.objects.filter(pk=server.pk).update(enabled=False)
    assert "tools.example.net" not in page()


def test_no_address_of_a_provider_gives_away_its_password(page, settings):
    settings.OPENAI_BASE_URL = "https://ada:s3cret@models.example.net/v1?key=k3y"
    assert "models.example.net" in page()
    assert "s3cret" not in page()
    assert "k3y" not in page()


def test_the_words_of_the_site_are_markdown_that_is_safe(page):
    PrivacyNotice.objects.create(content="# Ada's chat\n\nAsk <script>alert(1)</script> **Ada**.")
    shown = page()
    assert "<strong>Ada</strong>" in shown
    assert "<script>alert" not in shown
    assert "own words were last changed" in shown


def test_the_page_of_signing_in_leads_to_it(client):
    assert f'href="{PRIVACY}"' in client.get(reverse("account_login")).content.decode()


def test_an_admin_writes_it_and_there_is_only_one(client, settings):
    settings.STAFF_SECOND_FACTOR = False
    client.force_login(make_user("admin", role="admin"), backend="allauth.account.auth_backends.AuthenticationBackend")
    form = client.get(reverse("admin:conversations_privacynotice_changelist"), follow=True)
    assert "also without an account" in form.content.decode()
    address = form.redirect_chain[-1][0]
    client.post(address, {"content": "Written by Ada."})
    assert PrivacyNotice.objects.get().content == "Written by Ada."
    client.post(reverse("admin:conversations_privacynotice_add"), {"content": "A second one."})
    assert PrivacyNotice.objects.get().content == "Written by Ada."
    client.post(reverse("admin:conversations_privacynotice_change", args=[True]), {"content": "x" * 50_001})
    assert PrivacyNotice.objects.get().content == "Written by Ada."
