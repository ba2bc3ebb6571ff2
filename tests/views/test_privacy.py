"""The privacy page: the site's own words above what its settings say, for all, without an account."""

from __future__ import annotations

import pytest
from django.db import connection
from django.urls import reverse

from conversations.models import McpServer, PrivacyNotice
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
PRIVACY = reverse("conversations:privacy")
OWN = "a server of this site’s own network"


@pytest.fixture
def page(client):
    return lambda: client.get(PRIVACY).content.decode()


def test_without_words_of_the_site_it_says_what_the_settings_say(page, settings):
    settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = ""
    shown = page()
    assert "No provider is connected" in shown
    assert "You see who did, when and why" in shown
    assert "last changed this page" not in shown


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
        # Hosts that are not public.
        ("OPENAI_BASE_URL", "http://models:8000/v1", f"is sent to {OWN}. Each"),
        ("WEB_SEARCH_URL", "http://searx.lan:8888", f"are sent to {OWN}."),
        ("OIDC_SERVER_URL", "http://localhost:8080/realms/team", f"If you sign in through {OWN}, it"),
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


@pytest.fixture
def connected(settings):
    """A site whose words go to servers of others."""
    settings.OPENAI_BASE_URL, settings.OPENAI_EMBEDDING_MODEL = "https://models.example.net/v1", "small"
    settings.OPENAI_EMBEDDING_BASE_URL = "https://models.example.net/embeddings"
    settings.WEB_SEARCH_URL = "https://search.example.net"
    settings.OIDC_SERVER_URL = "https://id.example.net/realms/team"
    for name in ("shop", "desk"):
        McpServer.objects.create(name=name, url=f"https://{name}.example.net/mcp")
    return settings


def test_without_names_of_servers_it_says_what_they_do(page, connected):
    PrivacyNotice.objects.create(names_servers=False)
    shown = page()
    assert "example.net" not in shown
    assert "is sent to a provider of language models. Each" in shown
    assert "are sent to a provider of language models, to find" in shown
    assert shown.count("what their call needs to other servers.") == 1
    assert "words searched for are sent to a search server." in shown
    assert "If you sign in through another server, it learns" in shown
    assert "last changed this page" not in shown  # there are no words of the site


def test_a_row_of_version_1_0_0_names_servers_as_before(page, connected):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO conversations_privacynotice (singleton, content, changed_at) VALUES (true, '', now())"
        )
    assert page().count("models.example.net") == 2
    assert PrivacyNotice.objects.get().provider_name == ""


@pytest.mark.parametrize("names_servers", [True, False])
@pytest.mark.parametrize("host", ["models.example.net", "10.0.0.7"])
def test_a_name_of_the_provider_stands_for_its_host_alone(page, connected, names_servers, host):
    connected.OPENAI_BASE_URL = f"https://{host}/v1"
    connected.OPENAI_EMBEDDING_BASE_URL = f"https://{host}:8443/embeddings"
    PrivacyNotice.objects.create(names_servers=names_servers, provider_name="Example AI, in <Frankfurt>")
    shown = page()
    assert host not in shown
    assert "is sent to Example AI, in &lt;Frankfurt&gt;. Each" in shown
    assert "are sent to Example AI, in &lt;Frankfurt&gt;, to find" in shown
    assert ("search.example.net" in shown) == names_servers


def test_servers_of_tools_inside_are_one_sentence(page):
    for number, host in enumerate(["10.1.2.3", "[fd00::1]", "tools.default.svc"]):
        McpServer.objects.create(name=f"inside-{number}", url=f"http://{host}:3000/mcp")
    McpServer.objects.create(name="outside", url="https://tools.example.net/mcp")
    shown = page()
    assert shown.count("Tools send what their call needs to") == 2
    assert "Tools send what their call needs to servers of this site’s own network." in shown
    assert not any(each in shown for each in ("10.1.2.3", "fd00", "svc"))


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
    assert "last changed this page" in shown


def test_the_page_of_signing_in_leads_to_it(client):
    assert f'href="{PRIVACY}"' in client.get(reverse("account_login")).content.decode()


def test_an_admin_writes_it_and_there_is_only_one(client, settings):
    settings.STAFF_SECOND_FACTOR = False
    client.force_login(make_user("admin", role="admin"), backend="allauth.account.auth_backends.AuthenticationBackend")
    form = client.get(reverse("admin:conversations_privacynotice_changelist"), follow=True)
    assert "also without an account" in form.content.decode()
    address = form.redirect_chain[-1][0]
    client.post(address, {"content": "Written by Ada.", "names_servers": "on", "provider_name": "  Example\u200b AI "})
    stored = PrivacyNotice.objects.get()
    assert (stored.content, stored.names_servers, stored.provider_name) == ("Written by Ada.", True, "Example AI")
    client.post(reverse("admin:conversations_privacynotice_add"), {"content": "A second one."})
    assert PrivacyNotice.objects.get().content == "Written by Ada."
    client.post(reverse("admin:conversations_privacynotice_change", args=[True]), {"content": "x" * 50_001})
    assert PrivacyNotice.objects.get().content == "Written by Ada."
    client.post(reverse("admin:conversations_privacynotice_change", args=[True]), {"content": "", "provider_name": ""})
    stored.refresh_from_db()
    assert (stored.content, stored.names_servers, stored.provider_name) == ("", False, "")
