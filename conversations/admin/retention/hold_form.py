"""The form that places a legal hold: on a conversation, or on all of a user's."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from chatsite.accounts.models import User
from conversations.admin.review.conversation import ids_that_begin_with
from conversations.models import Conversation, LegalHold

FEWEST_CHARACTERS = 5


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
