"""Take the cookies off requests to the API: there a key decides, and a signed-in browser is a stranger."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

API = "/v1/"


class WithoutCookiesMiddleware(MiddlewareMixin):
    """Stands before all that reads a cookie. None is set, either."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(API):
            request.META.pop("HTTP_COOKIE", None)
            request.COOKIES = {}

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path_info.startswith(API):
            response.cookies.clear()
        return response
