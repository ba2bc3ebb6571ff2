"""Servers that words are sent to, as a page that all can read calls them: by their host, or by what they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import ngettext

from chatsite.names import isolate_name
from conversations.models import PrivacyNotice
from conversations.providers.egress.public_hosts import is_public_host
from conversations.providers.openai_api.completion_request import OPENAI_BASE_URL


@dataclass(frozen=True, slots=True)
class ServerNames:
    """What servers are called. Of a host that is not public it is said only that it is of this site's network.

    *provider_name* stands for the provider's host wherever that would, public or not, named or not.
    """

    names_servers: bool = True
    provider_name: str = ""

    @classmethod
    def of(cls, notice: PrivacyNotice | None) -> Self:
        return cls(notice.names_servers, notice.provider_name) if notice else cls()

    def name_server(self, url: str, otherwise: str) -> str:
        """Return what the server at *url* is called: *otherwise* says what it does, where its host is not named."""
        [name] = self.name_servers([url], lambda _count: otherwise)
        return name

    def name_servers(self, urls: Iterable[str], describe: Callable[[int], str]) -> list[str]:
        """Return what the servers at *urls* are called, each name once.

        *describe* says of a number of them what they do, where their hosts are not named.
        """
        hosts = Counter(self._shown_host(url) for url in dict.fromkeys(urls))
        words = {None: describe, "": _describe_own}
        return [words[host](count) if host in words else isolate_name(host) for host, count in hosts.items()]

    def _shown_host(self, url: str) -> str | None:
        """Return what stands for the host: blank for one of the site's own network, None for one without a name."""
        host = _host(url)
        if self.provider_name and host == _host(settings.OPENAI_BASE_URL or OPENAI_BASE_URL):
            return self.provider_name
        if not is_public_host(host):
            return ""
        return host if self.names_servers else None


def _describe_own(count: int) -> str:
    return ngettext("a server of this site’s own network", "servers of this site’s own network", count)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
