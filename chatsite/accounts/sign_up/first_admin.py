"""The first admin of a new site: made by a link that only its operator sees, printed where the site was started.

It is a one-time link (`chatsite.accounts.sign_up.one_time_links`). Its grant is used up when an account becomes the
admin, once, under a lock on the link's row. A new link ends the older one.
"""

from __future__ import annotations

from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.utils.crypto import constant_time_compare

from chatsite.accounts.models import FirstAdminLink, Role, User
from chatsite.accounts.sign_up.one_time_links import build_link, hash_token, make_token

GRANT = "first_admin_grant"


def first_admin_url() -> str | None:
    """Return a new one-time link that makes its visitor the admin, or None if there is an admin."""
    if User.objects.admins().exists():
        return None
    token = make_token()
    FirstAdminLink.objects.update_or_create(singleton=True, defaults={"token_hash": hash_token(token)})
    return build_link("first_admin", token)


def is_link_open() -> bool:
    return FirstAdminLink.objects.exists() and not User.objects.admins().exists()


def accept_token(session: SessionBase, token: str) -> bool:
    """Store in the session that its user came by the link, if *token* is the link's."""
    session[GRANT] = hash_token(token)
    if holds_grant(session):
        return True
    del session[GRANT]
    return False


def holds_grant(session: SessionBase) -> bool:
    """Return whether this session came by the link that is still valid."""
    if GRANT not in session:
        return False
    return is_link_open() and _matches(FirstAdminLink.objects.first(), session[GRANT])


@transaction.atomic
def make_first_admin(session: SessionBase, user: User) -> bool:
    """Make *user* the admin if this session holds the grant; return whether it did. The grant is used up."""
    grant = session.pop(GRANT, "")
    # The second of two waits here, and then finds no link.
    link = FirstAdminLink.objects.select_for_update().first()
    if not _matches(link, grant) or User.objects.admins().exists():
        return False
    user.role = Role.ADMIN
    user.save(update_fields=["role"])
    FirstAdminLink.objects.all().delete()
    return True


def _matches(link: FirstAdminLink | None, grant: str) -> bool:
    return link is not None and constant_time_compare(link.token_hash, grant)
