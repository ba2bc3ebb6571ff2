"""Legal holds: which conversations and users are held, and who placed the hold, when and why. Admins lift them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from chatsite.accounts.admin.base_admin import ONLY_SAVE, StateColours
from chatsite.accounts.models import SecurityEventKind, User
from chatsite.accounts.security.security_log import record_request_event
from conversations.admin.object_ids import id_in
from conversations.admin.review.content_access import reviewer_of
from conversations.admin.row_action import RowActionAdmin
from conversations.admin.state_labels import LINK_CLASS
from conversations.core.errors import ConversationNotFound
from conversations.models import Conversation, LegalHold
from conversations.models.conversation import short_id
from conversations.services.retention.legal_holds import lift_hold, place_hold

from .hold_form import LegalHoldForm

STATES = StateColours(held="info")
RULE_OF_HOLDS = _(
    "What is held can’t be permanently deleted: not by retention, not by its owner, and not with the account."
)


@admin.register(LegalHold)
class LegalHoldAdmin(RowActionAdmin):
    action = "lift"
    action_label = _("Lift this hold")
    action_done = _("The legal hold is lifted.")
    action_record = "Lifted."
    form = LegalHoldForm
    list_display = ["placed_at", "what", "owner", "reason", "placed_by_email", "state"]
    list_filter = ["placed_at", ("lifted_at", admin.EmptyFieldListFilter)]
    search_fields = ["user__email", "conversation__owner__email", "placed_by_email", "reason"]
    search_help_text = _("Email address of the owner or the admin, or words of the reason")
    list_select_related = ["conversation__owner", "user"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("conversations.add_legalhold"))

    def get_fieldsets(self, request: HttpRequest, obj: LegalHold | None = None) -> list[Any]:
        return [(None, {"description": RULE_OF_HOLDS, "fields": ["conversation_id", "email", "reason"]})]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Fill in the conversation or the user whose page led here."""
        pk = id_in(request.GET.get("conversation", ""))
        if pk and (conversation := Conversation.objects.filter(pk=pk).first()):
            return {"conversation_id": str(conversation.public_id)}
        pk = id_in(request.GET.get("user", ""))
        if pk and (user := User.objects.filter(pk=pk).first()):
            return {"email": user.email}
        return {}

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> Any:
        try:
            return super().add_view(request, form_url, {**(extra_context or {}), **ONLY_SAVE})
        except ConversationNotFound:  # deleted since the form was checked
            messages.error(request, gettext("It has just been deleted: nothing is held."))
            return redirect(request.get_full_path())

    def save_form(self, request: HttpRequest, form: LegalHoldForm, change: Any) -> LegalHold:
        """Place the hold here, where what it names was found, and not by saving the form's object."""
        hold = place_hold(admin=reviewer_of(request), reason=form.cleaned_data["reason"], **form.found)
        _record(SecurityEventKind.HOLD_PLACED, request, hold)
        return hold

    def save_model(self, request: HttpRequest, obj: LegalHold, form: Any, change: Any) -> None:
        """Store nothing: `save_form` has placed the hold."""

    def save_related(self, *args: Any, **kwargs: Any) -> None:
        """Store nothing: a hold has no related rows."""

    @display(description=_("held"))
    def what(self, hold: LegalHold) -> SafeString | str:
        return what_is_held(hold)

    @display(description=_("owner"))
    def owner(self, hold: LegalHold) -> str | None:
        owner = _owner_of(hold)
        return owner.email if owner else None

    @display(description=_("state"), label=STATES)
    def state(self, hold: LegalHold) -> tuple[str, str]:
        return ("lifted", gettext("lifted")) if hold.lifted_at else ("held", gettext("in force"))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: LegalHold | None = None, **kwargs: Any
    ) -> HttpResponse:
        if obj:
            context |= {"what": what_is_held(obj), "owner": self.owner(obj)}
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    def can_act(self, row: LegalHold) -> bool:
        return row.lifted_at is None

    def act(self, request: HttpRequest, row: LegalHold) -> bool:
        if is_lifted := lift_hold(row, admin=reviewer_of(request)):
            _record(SecurityEventKind.HOLD_LIFTED, request, row)
        return is_lifted


def what_is_held(hold: LegalHold) -> SafeString | str:
    """Return the conversation with the way to it, all of a user's, or that it is gone."""
    if hold.is_of_user:
        return gettext("all conversations") if hold.user_id else gettext("all conversations of a deleted user")
    if hold.conversation is None:
        number = short_id(hold.conversation_public_id) if hold.conversation_public_id else ""
        return gettext("Conversation %(id)s (deleted)") % {"id": number}
    url = reverse("admin:conversations_conversation_change", args=[hold.conversation.pk])
    return format_html('<a class="{}" href="{}">{}</a>', LINK_CLASS, url, hold.conversation)


def _owner_of(hold: LegalHold) -> User | None:
    return hold.user or (hold.conversation.owner if hold.conversation else None)


def _record(kind: SecurityEventKind, request: HttpRequest, hold: LegalHold) -> None:
    record_request_event(kind, request, user=_owner_of(hold), about=f"hold {hold.pk} by {request.user.pk}")
