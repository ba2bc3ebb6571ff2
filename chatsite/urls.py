"""URLs of the site. `/healthz` and `/readyz` are answered before these, see `chatsite.middleware.health`."""

from __future__ import annotations

from functools import partial

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.http import Http404
from django.urls import include, path, re_path
from django.views.defaults import page_not_found
from django.views.generic import RedirectView

from chatsite.accounts import views
from chatsite.accounts.account import account_page
from chatsite.accounts.gate import views as gate_views
from chatsite.accounts.preferences import reader_language
from chatsite.accounts.sign_up import invitation_page
from chatsite.web_app_manifest import manifest

# The admin signs in where everyone does, with the same limits on attempts.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
password_change = RedirectView.as_view(pattern_name="account_change_password")
admin.site.password_change = password_change  # type: ignore[method-assign, assignment]
# Unfold's search is switched off: it finds what a user could see five minutes ago, and fails at some pages.
admin.site.search = partial(page_not_found, exception=Http404())  # type: ignore[attr-defined]  # Unfold adds it

handler400 = "conversations.views.http.errors.bad_request"
handler403 = "conversations.views.http.errors.forbidden"
handler404 = "conversations.views.http.errors.not_found"
handler500 = "conversations.views.http.errors.server_error"
urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", views.SignInView.as_view(), name="account_login"),
    path("accounts/signup/", views.SignUpView.as_view(), name="account_signup"),
    re_path(
        r"^accounts/password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.ResetPasswordView.as_view(),
        name="account_reset_password_from_key",
    ),
    path("accounts/2fa/", RedirectView.as_view(pattern_name="account"), name="mfa_index"),
    path("accounts/", include("allauth.urls")),
    path("account/", account_page.account, name="account"),
    path("account/sessions/end/", account_page.end_sessions, name="end_sessions"),
    path("account/deleted/", views.account_deleted, name="account_deleted"),
    path("account/second-factor/", views.second_factor, name="second_factor"),
    path("language/", reader_language.choose_language, name="language"),
    path("manifest.webmanifest", manifest, name="manifest"),
    path("gate/", gate_views.gate, name="gate"),
    path("first-admin/", views.first_admin, name="first_admin"),
    path("first-admin/claim/", views.first_admin_claim, name="first_admin_claim"),
    path("invitation/", invitation_page.invitation, name="invitation"),
    path("invitation/decline/", invitation_page.decline, name="invitation_decline"),
    path("", include("conversations.urls")),
]
