"""Users, with their conversations, their usage and its cost: adds to the accounts' own page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from chatsite.accounts.admin import UserAdmin
from chatsite.accounts.models import User
from conversations.admin.base_admin import LargeListAdmin
from conversations.admin.ledger.spending import spent_by
from conversations.admin.state_labels import LINK_CLASS
from conversations.models import Conversation
from conversations.selectors.figures.usage_columns import BY_COST, BY_INPUT, UsageColumns, with_usage
from conversations.selectors.retention.holds import IN_FORCE
from conversations.templatetags import figures

if TYPE_CHECKING:
    import datetime as dt

    from django_stubs_ext import WithAnnotations

    class ListedColumns(UsageColumns):
        owned_conversations: int | None
        last_active_at: dt.datetime | None

    ListedUser = WithAnnotations[User, ListedColumns]

admin.site.unregister(User)


@admin.register(User)
class UserWithUsageAdmin(LargeListAdmin, UserAdmin):
    list_display = [*UserAdmin.list_display, "conversation_count", "tokens", "cost", "last_activity"]

    readonly_fields = [*UserAdmin.readonly_fields, "spent", "legal_holds"]

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> list[Any]:
        fieldsets = list(super().get_fieldsets(request, obj))
        if obj is None:
            return fieldsets
        kept = (_("Retention"), {"fields": ["legal_holds"]})
        return [*fieldsets, (_("Spending"), {"fields": ["spent"]}), kept]

    @display(description=_("legal hold"))
    def legal_holds(self, user: User) -> SafeString:
        """Link to the hold on the user, or to the form that places one."""
        if hold := IN_FORCE.filter(user=user).first():
            url = reverse("admin:conversations_legalhold_change", args=[hold.pk])
            words = gettext("since %(day)s") % {"day": date_format(hold.placed_at)}
        else:
            url = reverse("admin:conversations_legalhold_add", query={"user": user.pk})
            words = gettext("Place a hold")
        return format_html('<a class="{}" href="{}">{}</a>', LINK_CLASS, url, words)

    @display(description=_("so far"))
    def spent(self, user: User) -> str:
        return spent_by(user)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        owned = Conversation.objects.filter(owner=OuterRef("pk"), deleted_at=None).order_by().values("owner")
        users: QuerySet[User] = with_usage(super().get_queryset(request), of="user")
        return users.annotate(
            owned_conversations=Subquery(owned.annotate(figure=Count("pk")).values("figure")),
            last_active_at=Subquery(owned.annotate(figure=Max("last_active_at")).values("figure")),
        )

    @display(description=_("conversations"), ordering="owned_conversations")
    def conversation_count(self, user: ListedUser) -> str:
        return figures.count(user.owned_conversations or 0)

    @display(description=_("tokens in / out"), ordering=BY_INPUT)
    def tokens(self, user: ListedUser) -> str:
        return f"{figures.count(user.input_tokens)} / {figures.count(user.output_tokens)}"

    @display(description=_("cost"), ordering=BY_COST)
    def cost(self, user: ListedUser) -> str:
        return figures.cost(user.cost_usd, user.unknown_costs)

    @display(description=_("last activity"), ordering="last_active_at")
    def last_activity(self, user: ListedUser) -> object:
        return user.last_active_at
