"""Every address of the site. `/healthz` and `/readyz` are answered before these, see `chatsite.health`."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from chatsite.accounts import views

# One door: the admin signs in where everyone does, with the same limits on attempts.
admin.site.login = secure_admin_login(admin.site.login)

handler400 = "conversations.views.errors.bad_request"
urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/signup/", views.SignUpView.as_view(), name="account_signup"),
    path("accounts/", include("allauth.urls")),
    path("account/", views.account, name="account"),
    path("first-admin/", views.first_admin, name="first_admin"),
    path("first-admin/claim/", views.first_admin_claim, name="first_admin_claim"),
    path("", include("conversations.urls")),
]
