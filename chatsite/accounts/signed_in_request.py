"""The request of a user who is signed in, for views that have asked for that already."""

from __future__ import annotations

from django.http import HttpRequest

from chatsite.accounts.models import User


class SignedInRequest(HttpRequest):
    """The request of views behind `login_required` and of pages of the admin: *user* is never anonymous."""

    user: User
