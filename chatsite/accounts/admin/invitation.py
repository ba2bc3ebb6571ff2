"""Invitations in the admin. A link is shown once, in the answer to the form that made it."""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from chatsite.accounts.admin.base_admin import SingleSaveButtonAdmin, StateColours
from chatsite.accounts.models import Invitation, InvitationState
from chatsite.accounts.sign_up import invitations
from chatsite.accounts.signed_in_request import SignedInRequest

STATES = StateColours(open="info", revoked="warning", ended="warning")


class NewLink(NamedTuple):
    """A link as it is shown once, and for how many days it opens its invitation."""

    invitation: Invitation
    link: str
    days: int


class InvitationRequest(SignedInRequest):
    """A request to the invitation form. *made_link* is there once the form has made one."""

    made_link: NewLink


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    days = forms.IntegerField(
        label=_("Days until it expires"),
        initial=invitations.USUAL_DAYS,
        min_value=1,
        max_value=invitations.MOST_DAYS,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=format_lazy(_("At most {days}."), days=invitations.MOST_DAYS),
    )

    class Meta:
        model = Invitation
        fields = ("email", "note")


class StateFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [(state.value, str(state.label)) for state in InvitationState]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> QuerySet[Invitation]:
        unused, unrevoked, in_time = Q(used_at=None), Q(revoked_at=None), Q(expires_at__gt=timezone.now())
        states = {
            "used": ~unused,
            "revoked": unused & ~unrevoked,
            "ended": unused & unrevoked & ~in_time,
            "open": unused & unrevoked & in_time,
        }
        return queryset.filter(states.get(self.value() or "", Q()))


@admin.register(Invitation)
class InvitationAdmin(SingleSaveButtonAdmin):
    list_display = ["whom", "shown_state", "note", "ends", "used_by", "created_by"]
    list_filter = [StateFilter]
    list_select_related = ["used_by", "created_by"]
    list_per_page = 50
    search_fields = ["email", "note", "used_by__email"]
    search_help_text = _("Email address or note")
    empty_value_display = "–"
    actions = ["revoke_selected"]
    actions_submit_line = ["make_new_link", "revoke"]
    facts = ["whom", "state", "expires_at", "used_by", "used_at", "created_by", "created_at"]

    def get_form(
        self, request: HttpRequest, obj: Invitation | None = None, **kwargs: Any
    ) -> type[forms.ModelForm[Invitation]]:
        kwargs["form"] = forms.ModelForm if obj else InvitationForm
        form: type[forms.ModelForm[Invitation]] = super().get_form(request, obj, **kwargs)
        return form

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> list[str]:
        return [*self.facts, "note"] if obj else ["email", "days", "note"]

    def get_readonly_fields(self, request: HttpRequest, obj: Invitation | None = None) -> list[str]:
        return self.facts if obj else []

    @display(description=_("for"), ordering="email")
    def whom(self, invitation: Invitation) -> str:
        return invitation.email or gettext("any address")

    @display(description=_("expires"), ordering="expires_at")
    def ends(self, invitation: Invitation) -> dt.date:
        return invitation.expires_at.date()

    @display(description=_("state"))
    def state(self, invitation: Invitation) -> str:
        return str(invitation.state.label)

    @display(description=_("state"), label=STATES)
    def shown_state(self, invitation: Invitation) -> tuple[str, str]:
        return invitation.state, str(invitation.state.label)

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def get_actions_submit_line(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Offer only what can still be done."""
        invitation = self.get_object(request, object_id)  # None, too, where that is no number
        is_over = invitation is None or invitation.state in (InvitationState.USED, InvitationState.REVOKED)
        return [] if is_over else super().get_actions_submit_line(request, object_id)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the link after its invitation is committed, and not before."""
        response = super().changeform_view(request, *args, **kwargs)
        made: NewLink | None = getattr(request, "made_link", None)
        return self._hand_over(request, *made) if made else response

    def save_model(self, request: InvitationRequest, obj: Invitation, form: InvitationForm, change: Any) -> None:
        if change:
            obj.save(update_fields=["note"])  # a sign-up may have written the other fields meanwhile
            return self._run_pressed(request, obj)
        obj.created_by = request.user
        self._make_link(request, obj, days=form.cleaned_data["days"])
        return None

    def response_add(self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None) -> HttpResponse:
        return redirect("admin:accounts_invitation_changelist")

    def response_change(self, request: HttpRequest, obj: Invitation) -> HttpResponse:
        return redirect("admin:accounts_invitation_changelist")

    @action(description=_("Make a new link"), permissions=["change"])
    def make_new_link(self, request: InvitationRequest, invitation: Invitation) -> None:
        try:
            self._make_link(request, invitation, days=invitations.USUAL_DAYS)
        except invitations.InvitationNotOpen:
            self.message_user(request, gettext("It has been used or revoked in the meantime."), messages.ERROR)

    @action(description=_("Revoke"), permissions=["change"])
    def revoke(self, request: HttpRequest, invitation: Invitation) -> None:
        self._tell_revoked(request, [invitation])

    @action(description=_("Revoke selected invitations"), permissions=["change"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        self._tell_revoked(request, queryset)

    def _tell_revoked(self, request: HttpRequest, chosen: Any) -> None:
        revoked = [invitation for invitation in chosen if invitations.revoke(invitation)]
        for invitation in revoked:
            self.log_change(request, invitation, "Revoked.")
        self.message_user(
            request, gettext("Revoked: %(count)d. Used invitations stay as they are.") % {"count": len(revoked)}
        )

    def _run_pressed(self, request: HttpRequest, invitation: Invitation) -> None:
        for button in self.get_actions_submit_line(request, invitation.pk):
            if button.action_name in request.POST:
                button.method(request, invitation)

    def _make_link(self, request: InvitationRequest, invitation: Invitation, *, days: int) -> None:
        request.made_link = NewLink(invitation, invitations.invite(invitation, days=days), days)

    def _hand_over(self, request: HttpRequest, invitation: Invitation, link: str, days: int) -> HttpResponse:
        mail_works = bool(invitation.email and settings.SMTP_URL)
        invitation.refresh_from_db()
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Invitation"),
            "opts": self.opts,
            "invitation": invitation,
            "link": link,
            "mail_works": mail_works,
            "is_sent": mail_works and invitations.send(invitation, link, days=days),
            "closed": settings.SIGN_UP == "closed",
        }
        return render(request, "admin/accounts/invitation/link.html", context)
