"""Security middleware: records refused access, and what staff change in the admin."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch
from django.utils.deprecation import MiddlewareMixin

from chatsite.accounts.models import SecurityEventKind
from chatsite.accounts.security.security_log import record_request_event

REFUSED = 403


class SecurityLogMiddleware(MiddlewareMixin):
    """Records each answer that is a refusal, and each form of the admin that was carried out."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        match = request.resolver_match
        if response.status_code == REFUSED:
            record_request_event(SecurityEventKind.ACCESS_REFUSED, request, about=page_name(match))
        elif _changed_in_the_admin(request, response):
            record_request_event(SecurityEventKind.ADMIN_ACTION, request, about=page_name(match))
        return response


def record_refused_access(request: HttpRequest, about: str) -> None:
    """Record that *request* is sent elsewhere, because its user lacks *about*."""
    request.access_was_refused = True  # type: ignore[attr-defined]  # a redirect of a form means that it was not done
    record_request_event(
        SecurityEventKind.ACCESS_REFUSED, request, about=f"{about}: {page_name(request.resolver_match)}"
    )


def page_name(match: ResolverMatch | None) -> str:
    """Return the name of the page, and the ids that its address has: `admin:accounts_user_change 7`.

    What else stands in an address may be a key, such as that of a reset.
    """
    if match is None:
        return ""
    ids = (str(value) for value in match.kwargs.values() if isinstance(value, uuid.UUID) or str(value).isdecimal())
    return " ".join([match.view_name or "", *ids])


def _changed_in_the_admin(request: HttpRequest, response: HttpResponse) -> bool:
    """Return whether a form was carried out: where it was not, its page is shown again, and visitors sign in."""
    match = request.resolver_match
    return (
        request.method == "POST"
        and match is not None
        and "admin" in match.app_names
        and response.status_code in (302, 303)
        and request.user.is_authenticated
        and request.user.is_staff
        and not getattr(request, "access_was_refused", False)
    )
