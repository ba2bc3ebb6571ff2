"""allauth's URLs of OpenID Connect, with this package's views."""

from __future__ import annotations

from django.urls import path

from chatsite.accounts.openid_connect import views

urlpatterns = [
    path("oidc/<slug:provider_id>/login/", views.login, name="openid_connect_login"),
    path("oidc/<slug:provider_id>/login/callback/", views.callback, name="openid_connect_callback"),
]
