"""Views that export and delete a user's own account."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.http import require_http_methods

from chatsite.accounts.account.account_deletion import send_deletion_email
from chatsite.accounts.account.reauthentication import require_reauthentication
from chatsite.accounts.forms import DeleteAccountForm
from conversations.core.text.zip_stream import zip_pieces
from conversations.selectors.figures.account_contents import count_account_contents
from conversations.services.portability.delete_account import delete_account as delete_for_good
from conversations.services.portability.export_account import exported_files
from conversations.views.http.errors import RETRY_AFTER_SECONDS, answers_errors
from conversations.views.http.export_stream import EXPORT_UNDER_WAY, export_response
from conversations.views.http.htmx_request import HtmxRequest


@require_http_methods(["GET", "POST"])
@answers_errors()
@require_reauthentication
def export_account(request: HtmxRequest) -> HttpResponseBase:
    """Say what is in the file, and send it."""
    if request.method == "GET":
        return render(request, "account/export.html")
    now = timezone.now()
    files = exported_files(request.user, language_code=get_language() or settings.LANGUAGE_CODE)
    pieces = zip_pieces(files, written_at=now)
    name = f"{settings.SITE_NAME} {now:%Y-%m-%d}.zip"
    if response := export_response(request.user, name, pieces, content_type="application/zip"):
        return response
    messages.error(request, EXPORT_UNDER_WAY)
    refusal = render(request, "account/export.html", status=429)
    refusal["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return refusal


@require_http_methods(["GET", "POST"])
@login_required
@require_reauthentication
def delete_account(request: HtmxRequest) -> HttpResponse:
    """Say what goes and what stays, and delete the account if its address was typed. The gate does not apply here."""
    form = DeleteAccountForm(request.POST or None, email=request.user.email)
    if request.method == "POST" and form.is_valid():
        try:
            return _deleted(request)
        except ValidationError as refusal:
            form.add_error(None, refusal)
    context = {"form": form, "contents": count_account_contents(request.user)}
    return render(request, "account/delete.html", context, status=400 if form.errors else 200)


def _deleted(request: HtmxRequest) -> HttpResponse:
    """Raises a `ValidationError` if the account has to stay."""
    email = request.user.email
    delete_for_good(request.user)
    logout(request)
    send_deletion_email(request, email)
    return redirect("account_deleted")
