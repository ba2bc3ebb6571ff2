"""Views that export and delete a user's own account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from chatsite.accounts.account.account_deletion import send_deletion_email
from chatsite.accounts.account.reauthentication import require_reauthentication
from chatsite.accounts.forms import DeleteAccountForm
from conversations.core.text.zip_stream import zip_pieces
from conversations.live.database_threads import in_thread
from conversations.models import ExportLease
from conversations.selectors.figures.account_contents import count_account_contents
from conversations.services.portability.delete_account import delete_account as delete_for_good
from conversations.services.portability.export_account import exported_files
from conversations.services.portability.export_lease import give_lease_back, prolong_lease, take_lease
from conversations.views.http.errors import RETRY_AFTER_SECONDS, answers_errors
from conversations.views.http.htmx_request import HtmxRequest


@require_http_methods(["GET", "POST"])
@answers_errors()
@require_reauthentication
def export_account(request: HtmxRequest) -> HttpResponseBase:
    """Say what is in the file, and send it."""
    if request.method == "GET":
        return render(request, "account/export.html")
    if (lease := take_lease(request.user)) is None:
        messages.error(request, _("Your export is already being made. Wait until it has downloaded, then try again."))
        refusal = render(request, "account/export.html", status=429)
        refusal["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return refusal
    now = timezone.now()
    files = exported_files(request.user, language_code=get_language() or settings.LANGUAGE_CODE)
    stream = _ExportStream(zip_pieces(files, written_at=now), lease)
    response = StreamingHttpResponse(stream, content_type="application/zip")
    name = f"{settings.SITE_NAME} {now:%Y-%m-%d}.zip"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


class _ExportStream:
    """The file, piece by piece as it is made. A user who goes away in the middle may start over at once."""

    def __init__(self, pieces: Iterator[bytes], lease: ExportLease) -> None:
        self._pieces = pieces
        self._lease = lease

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while (piece := await in_thread(self._next)()) is not None:
                yield piece
        finally:
            await in_thread(self.close)()

    def _next(self) -> bytes | None:
        prolong_lease(self._lease)
        return next(self._pieces, None)

    def close(self) -> None:
        """Called by Django at the end of a response, also of one that was never read."""
        give_lease_back(self._lease)


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
