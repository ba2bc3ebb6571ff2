"""Users, with their conversations, their usage and its cost: adds to the accounts' own page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from chatsite.accounts.admin import UserAdmin
from chatsite.accounts.models import User
from conversations.admin.base_admin import LargeListAdmin
from conversations.admin.ledger.spending import spent_by
from conversations.models import Conversation
from conversations.selectors.figures.usage_columns import BY_COST, BY_INPUT, UsageColumns, with_usage
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

    readonly_fields = [*UserAdmin.readonly_fields, "spent"]

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> list[Any]:
        fieldsets = list(super().get_fieldsets(request, obj))
        return [*fieldsets, (_("Spending"), {"fields": ["spent"]})] if obj else fieldsets

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
