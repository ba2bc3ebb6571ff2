"""Legal holds: which conversations and users are held, and who placed the hold, when and why. Admins lift them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from chatsite.accounts.admin.base_admin import ONLY_SAVE, StateColours
from chatsite.accounts.models import SecurityEventKind, User
from chatsite.accounts.security.security_log import record_request_event
from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.object_ids import id_in
from conversations.admin.review.content_access import reviewer_of
from conversations.admin.review.conversation import ids_that_begin_with
from conversations.admin.state_labels import LINK_CLASS
from conversations.core.errors import ConversationNotFound
from conversations.models import Conversation, LegalHold
from conversations.models.conversation import short_id
from conversations.services.retention.legal_holds import lift_hold, place_hold

LIFT = "conversations_legalhold_lift"
FEWEST_CHARACTERS = 5
STATES = StateColours(held="info")
RULE_OF_HOLDS = _(
    "What is held can’t be permanently deleted: not by retention, not by its owner, and not with the account."
)


class LegalHoldForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    """Of a conversation by its id, or of a user by the email address. *found* is what is held."""

    conversation_id = forms.CharField(
        label=_("Conversation"),
        required=False,
        max_length=36,
        widget=UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text=_("Its id, or the beginning of it, as its page in the admin has it."),
    )
    email = forms.CharField(
        label=_("Or all conversations of the user"),
        required=False,
        max_length=254,
        widget=UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text=_("The email address. Also those that are begun later."),
    )
    reason = forms.CharField(
        label=_("Reason"),
        min_length=FEWEST_CHARACTERS,
        max_length=500,
        widget=UnfoldAdminTextareaWidget({"rows": 2}),
        help_text=_("Kept permanently. The owner sees it, with your address and the day."),
    )

    class Meta:
        model = LegalHold
        fields = ("reason",)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        digits, email = cleaned.get("conversation_id", ""), cleaned.get("email", "")
        if bool(digits) == bool(email):
            raise forms.ValidationError(_("Name a conversation or a user, one of them."))
        self.found = _find_conversation(digits) if digits else _find_user(email)
        return cleaned


def _find_conversation(digits: str) -> dict[str, Any]:
    ids = ids_that_begin_with(digits)
    found = list(Conversation.objects.filter(public_id__range=ids)[:2]) if ids else []
    if not found:
        raise forms.ValidationError({"conversation_id": _("There is no such conversation.")})
    if len(found) > 1:
        raise forms.ValidationError({"conversation_id": _("Several ids begin like this: give more of it.")})
    return {"conversation": found[0]}


def _find_user(email: str) -> dict[str, Any]:
    if (user := User.objects.filter(email__iexact=email.strip()).first()) is None:
        raise forms.ValidationError({"email": _("There is no such user.")})
    return {"user": user}


@admin.register(LegalHold)
class LegalHoldAdmin(ReadOnlyAdmin):
    form = LegalHoldForm
    list_display = ["placed_at", "what", "owner", "reason", "placed_by_email", "state"]
    list_filter = ["placed_at", ("lifted_at", admin.EmptyFieldListFilter)]
    search_fields = ["user__email", "conversation__owner__email", "placed_by_email", "reason"]
    search_help_text = _("Email address of the owner or the admin, or words of the reason")
    list_select_related = ["conversation__owner", "user"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("conversations.add_legalhold"))

    def get_fieldsets(self, request: HttpRequest, obj: LegalHold | None = None) -> list[Any]:
        rule = _(
            "What is held can’t be permanently deleted: not by retention, not by its owner, and not with the account."
        )
        return [(None, {"description": rule, "fields": ["conversation_id", "email", "reason"]})]

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
        owner = hold.user or (hold.conversation.owner if hold.conversation else None)
        record_request_event(SecurityEventKind.HOLD_PLACED, request, user=owner, about=_about(hold, request))
        return hold

    def save_model(self, request: HttpRequest, obj: LegalHold, form: Any, change: Any) -> None:
        """It is stored already."""

    def save_related(self, *args: Any, **kwargs: Any) -> None:
        """There is nothing beside it."""

    @display(description=_("held"))
    def what(self, hold: LegalHold) -> SafeString | str:
        return what_is_held(hold)

    @display(description=_("owner"))
    def owner(self, hold: LegalHold) -> str | None:
        if hold.user:
            return hold.user.email
        return hold.conversation.owner.email if hold.conversation else None

    @display(description=_("state"), label=STATES)
    def state(self, hold: LegalHold) -> tuple[str, str]:
        return ("lifted", gettext("lifted")) if hold.lifted_at else ("held", gettext("in force"))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.lift))
        return [path("<int:pk>/lift/", view, name=LIFT), *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: LegalHold | None = None, **kwargs: Any
    ) -> HttpResponse:
        if obj:
            context |= {
                "what": what_is_held(obj),
                "owner": self.owner(obj),
                "may_lift": obj.lifted_at is None and may_lift(request),
            }
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    def lift(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not may_lift(request):
            raise PermissionDenied
        hold = self.get_object(request, str(pk))
        if hold is None:
            raise Http404
        if lift_hold(hold, admin=reviewer_of(request)):
            owner = hold.user or (hold.conversation.owner if hold.conversation else None)
            record_request_event(SecurityEventKind.HOLD_LIFTED, request, user=owner, about=_about(hold, request))
            self.log_change(request, hold, "Lifted.")
        messages.success(request, gettext("The legal hold is lifted."))
        return redirect(reverse("admin:conversations_legalhold_change", args=[pk]))


def may_lift(request: HttpRequest) -> bool:
    return bool(request.user.has_perm("conversations.change_legalhold"))


def what_is_held(hold: LegalHold) -> SafeString | str:
    """Return the conversation with the way to it, all of a user's, or that it is gone."""
    if hold.is_of_user:
        return gettext("all conversations") if hold.user_id else gettext("all conversations of a deleted user")
    if hold.conversation is None:
        number = short_id(hold.conversation_public_id) if hold.conversation_public_id else ""
        return gettext("Conversation %(id)s (deleted)") % {"id": number}
    url = reverse("admin:conversations_conversation_change", args=[hold.conversation.pk])
    return format_html('<a class="{}" href="{}">{}</a>', LINK_CLASS, url, hold.conversation)


def _about(hold: LegalHold, request: HttpRequest) -> str:
    return f"hold {hold.pk} by {request.user.pk}"
