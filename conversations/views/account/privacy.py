"""The privacy page: the site's own words, and what its settings say of who sees what. It needs no account."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from conversations.models import McpServer, PrivacyNotice
from conversations.providers.catalog.embedding_models import embedding_base_url, has_endpoint
from conversations.providers.catalog.language_models import demo_is_used
from conversations.providers.openai_api.completion_request import OPENAI_BASE_URL
from conversations.rendering import render_markdown
from conversations.wording.server_names import ServerNames


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    notice = PrivacyNotice.objects.first()
    context = {
        "notice": render_markdown(notice.content) if notice and notice.content.strip() else "",
        "changed_at": notice.changed_at if notice else None,
        "facts": {
            _("Where your words go"): list(_say_where_words_go(ServerNames.of(notice))),
            _("Who can read them"): list(_say_who_reads()),
            _("How long they are kept"): list(_say_how_long()),
            _("This browser"): [
                _("The site sets cookies for signing in, for its language and to protect forms. There are no others."),
                _("Pages load nothing from other servers, and nothing is measured about visitors."),
            ],
        },
    }
    return render(request, "account/privacy.html", context)


def _say_where_words_go(names: ServerNames) -> Iterator[str]:
    yield _("Conversations, documents and pictures are stored in the database of this site.")
    if demo_is_used():
        yield _("Replies are made on this server, by a demo model. No provider is connected.")
    else:
        yield _("What the model is shown for a reply is sent to %(host)s. Each reply lists it.") % {
            "host": names.name_server(settings.OPENAI_BASE_URL or OPENAI_BASE_URL, _("a provider of language models"))
        }
    if settings.OPENAI_EMBEDDING_MODEL and has_endpoint() and not settings.LOCAL_EMBEDDINGS:
        yield _("Passages of messages and documents are sent to %(host)s, to find them by their meaning.") % {
            "host": names.name_server(embedding_base_url(), _("a provider of language models"))
        }
    urls = McpServer.objects.filter(enabled=True).order_by("name").values_list("url", flat=True)
    for name in names.name_servers(urls, lambda count: ngettext("another server", "other servers", count)):
        yield _("Tools send what their call needs to %(host)s.") % {"host": name}
    if settings.WEB_SEARCH_URL:
        yield _("If you switch web search on, the words searched for are sent to %(host)s.") % {
            "host": names.name_server(settings.WEB_SEARCH_URL, _("a search server"))
        }
    if settings.OIDC_SERVER_URL:
        yield _("If you sign in through %(host)s, it learns when you do.") % {
            "host": names.name_server(settings.OIDC_SERVER_URL, _("another server"))
        }


def _say_who_reads() -> Iterator[str]:
    if settings.CONVERSATION_READING == "off":
        yield _("Reviewers and admins can’t open the conversations of others on this site.")
    elif settings.READINGS_SHOWN_TO_OWNERS:
        yield _("Reviewers can open a conversation if they give a reason. You see who did, when and why.")
    else:
        yield _("Reviewers can open a conversation if they give a reason, which is recorded.")
    yield {
        "off": _("Conversations can’t be shared by a link."),
        "signed-in": _("Conversations that you share by a link can be read by people who are signed in here."),
        "anyone": _("Conversations that you share by a link can be read by anyone who has the link."),
    }[settings.SHARES]
    yield _("Someone with access to the server itself can read what is stored on it.")


def _say_how_long() -> Iterator[str]:
    if days := settings.RETENTION_DAYS:
        yield ngettext(
            "A conversation without activity is deleted after %(count)d day, if no shorter rule applies to it.",
            "A conversation without activity is deleted after %(count)d days, if no shorter rule applies to it.",
            days,
        ) % {"count": days}
    else:
        yield _("Conversations stay until you delete them, if no rule says otherwise. Your account page lists yours.")
    days = settings.DELETED_CONVERSATION_DAYS
    yield ngettext(
        "What you delete can be restored for %(count)d day; then it is permanently gone.",
        "What you delete can be restored for %(count)d days; then it is permanently gone.",
        days,
    ) % {"count": days}
    days = settings.SECURITY_LOG_DAYS
    yield ngettext(
        "Signing in is recorded with the network’s address for %(count)d day.",
        "Signing in is recorded with the network’s address for %(count)d days.",
        days,
    ) % {"count": days}
    yield _("On your account page you can export everything, and delete the account with all that is in it.")
