"""What people choose to see of costs."""

from __future__ import annotations

from chatsite.accounts.models import User


def show_costs(user: User, *, shows: bool) -> None:
    """Show tokens and costs under the person's replies, or keep them out of their pages."""
    User.objects.filter(pk=user.pk).update(shows_costs=shows)
    user.shows_costs = shows
