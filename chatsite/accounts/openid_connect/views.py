"""Views that send a user to the identity provider and take them back."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.decorators import login_not_required
from allauth.decorators import rate_limit
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.base import Provider
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView, OAuth2View
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from chatsite.accounts.openid_connect.provider import ProviderClient
from chatsite.accounts.sign_up.sign_up_policy import SignUpRefused


class CallbackView(OAuth2CallbackView):
    """The provider's callback, in which two at once end like two in a row."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().dispatch(request, *args, **kwargs)
        except SignUpRefused:
            return render(request, "account/signup_closed.html")
        except (OAuth2Error, IntegrityError) as error:
            response = render_authentication_error(request, self.adapter.get_provider(), exception=error)
        return response

    def _get_state(self, request: HttpRequest, provider: Provider) -> tuple[dict[str, Any] | None, HttpResponse | None]:
        state, response = super()._get_state(request, provider)
        self.adapter.nonce = (state or {}).get("nonce", "")
        self.adapter.asked_at = (state or {}).get("asked_at")
        return state, response


@login_not_required
@rate_limit(action="login")
def login(request: HttpRequest, provider_id: str) -> HttpResponse:
    return _answer(OAuth2LoginView, request, provider_id)


@login_not_required
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    return _answer(CallbackView, request, provider_id)


def _answer(view: type[OAuth2View], request: HttpRequest, provider_id: str) -> HttpResponse:
    try:
        response: HttpResponse = view.adapter_view(ProviderClient(request, provider_id))(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    return response
