"""Admin pages of accounts: users, invitations, limits, the gate, account changes, security events.

The pages that django-allauth and Django would add beside them are unregistered.
"""

from __future__ import annotations

import allauth.account.admin
import allauth.mfa.admin
import allauth.socialaccount.admin  # noqa: F401
import django.contrib.auth.admin  # noqa: F401  all four register what is unregistered here
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.models import Group

from . import account_change, gate, invitation, limits, security_event, user
from .user import UserAdmin

__all__ = ["UserAdmin", "account_change", "gate", "invitation", "limits", "security_event", "user"]

admin.site.unregister(EmailAddress)  # an address is changed with its user, here or by themselves
admin.site.unregister(Group)  # the role says it all
admin.site.unregister(Authenticator)  # no admin may read the keys of second factors
admin.site.unregister([SocialAccount, SocialApp, SocialToken])  # single sign-on is set up by settings
