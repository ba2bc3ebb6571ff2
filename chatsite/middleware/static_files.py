"""Static files: of each the coding that the client prefers, with a validator of its own.

servestatic gives all codings of a file one strong validator. Their bytes differ: a download that is resumed in another
coding would be made of both (RFC 9110, sections 8.8.3.3 and 13.1.5).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from email.utils import parsedate
from typing import Any

from django.utils.http import parse_etags
from servestatic.middleware import ServeStaticMiddleware
from servestatic.responders import Response, StaticFile

from .accept_encoding import IDENTITY, choose_coding

Stats = Mapping[str, os.stat_result] | None


class StaticFilesMiddleware(ServeStaticMiddleware):  # type: ignore[misc]  # servestatic has no types
    """Answers requests for static files; all others go on."""

    def get_static_file(self, path: str, url: str, stat_cache: Stats = None) -> NegotiatedFile:
        return NegotiatedFile(super().get_static_file(path, url, stat_cache=stat_cache))


class NegotiatedFile:
    """A static file in each coding that there is, smallest first; each request gets the one that it prefers."""

    def __init__(self, file: StaticFile) -> None:
        codings = ((coding or IDENTITY, path, dict(headers)) for coding, path, headers in file.alternatives)
        self.files = {coding: CodedFile(coding, path, headers) for coding, path, headers in codings}
        self.offered = [coding for coding in self.files if coding != IDENTITY]

    async def aget_response(self, method: str, request_headers: Mapping[str, str], **options: Any) -> Response:
        coding = choose_coding(request_headers.get("HTTP_ACCEPT_ENCODING"), self.offered)
        return await self.files[coding].aget_response(method, request_headers, **options)


class CodedFile(StaticFile):  # type: ignore[misc]  # servestatic has no types
    """A static file in one coding; *headers* are those of a whole answer."""

    def __init__(self, coding: str, path: str, headers: Mapping[str, str]) -> None:
        own = dict(headers)
        if coding != IDENTITY and "ETag" in own:
            own["ETag"] = f'{own["ETag"][:-1]}-{coding}"'
        self.etag = own.get("ETag")
        self.last_modified = parsedate(own.get("Last-Modified", ""))
        self.not_modified_response = self.get_not_modified_response(own)
        # No coding is named: servestatic must not choose again.
        self.alternatives = [(None, path, list(own.items()))]
        self.modified_at = own.get("Last-Modified")

    async def aget_response(self, method: str, request_headers: Mapping[str, str], **options: Any) -> Response:
        """Answer with a part only where that is asked of these very bytes."""
        wanted = request_headers
        if "HTTP_RANGE" in wanted and not (method == "GET" and self._is_of_these_bytes(wanted)):
            wanted = {name: value for name, value in wanted.items() if name != "HTTP_RANGE"}
        return await super().aget_response(method, wanted, **options)

    def is_not_modified(self, request_headers: Mapping[str, str]) -> bool:
        """Compare with every tag that the client has, a weak one too: a proxy that compresses makes ours weak."""
        if (held := request_headers.get("HTTP_IF_NONE_MATCH")) is None:
            return bool(super().is_not_modified(request_headers))
        tags = parse_etags(held)
        return tags == ["*"] or self.etag in [tag.removeprefix("W/") for tag in tags]

    def _is_of_these_bytes(self, request_headers: Mapping[str, str]) -> bool:
        """Tell whether `If-Range` lets a part be sent: strong tags and dates have to be the same to the letter."""
        held = request_headers.get("HTTP_IF_RANGE", "").strip()
        return not held or held in (self.etag, self.modified_at)
