"""The setting by which users show or hide costs on their pages."""

from __future__ import annotations

from chatsite.accounts.models import User


def store_costs_shown(user: User, *, shows: bool) -> None:
    """Show tokens and costs under the user's replies, or keep them out of their pages."""
    User.objects.filter(pk=user.pk).update(shows_costs=shows)
    user.shows_costs = shows
