"""allauth's names and addresses, with this package's views behind them."""

from __future__ import annotations

from django.urls import path

from chatsite.accounts.openid_connect import views

urlpatterns = [
    path("oidc/<slug:provider_id>/login/", views.login, name="openid_connect_login"),
    path("oidc/<slug:provider_id>/login/callback/", views.callback, name="openid_connect_callback"),
]
