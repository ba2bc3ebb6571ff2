"""Admin pages that are read-only but for one action on a row: to revoke a share or an API key, to lift a legal hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.models.revocable import Revocable

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


class RowActionAdmin(ReadOnlyAdmin):
    """The page of a row has a button for those who may change the model; what it does is on record.

    *action* is in its address, *action_label* on the button, *action_done* is what the page says then, *action_record*
    what the admin's log does. A template shows the button by `_row_action.html`.
    """

    action: ClassVar[str]
    action_label: ClassVar[StrPromise]
    action_done: ClassVar[StrPromise]
    action_record: ClassVar[str]

    def can_act(self, row: Any) -> bool:
        """Tell whether there is still something to be done with the row."""
        raise NotImplementedError

    def act(self, request: HttpRequest, row: Any) -> bool:
        """Do it. Return whether that changed anything."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.act_on_row))
        return [path(f"<int:pk>/{self.action}/", view, name=self._name(self.action)), *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **kwargs: Any
    ) -> HttpResponse:
        if obj and self.can_act(obj) and self._may_act(request):
            address = reverse(f"admin:{self._name(self.action)}", args=[obj.pk])
            context |= {"row_action": {"address": address, "label": self.action_label}}
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    def act_on_row(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Do by POST the one thing here that an admin may change."""
        if not self._may_act(request):
            raise PermissionDenied
        if (row := self.get_object(request, str(pk))) is None:
            raise Http404
        if self.act(request, row):
            self.log_change(request, row, self.action_record)
        messages.success(request, self.action_done)
        return redirect(reverse(f"admin:{self._name('change')}", args=[pk]))

    def _may_act(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(f"conversations.change_{self.opts.model_name}"))

    def _name(self, view: str) -> str:
        return f"conversations_{self.opts.model_name}_{view}"


class RevocableAdmin(RowActionAdmin):
    """What a user has made for others or for programs: an admin sees whose it is, and may revoke it."""

    action = "revoke"
    action_record = "Revoked."
    list_filter = ["created_at", ("revoked_at", admin.EmptyFieldListFilter)]
    linked_lookups = ("owner",)
    search_fields = ["owner__email"]
    search_help_text = _("Email address of the owner")

    def can_act(self, row: Revocable) -> bool:
        return row.is_open
