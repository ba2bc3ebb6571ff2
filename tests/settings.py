"""The site's settings as tests see them: with the app of single sign-on, which some switch on."""

from chatsite.settings import *  # noqa: F403  # as Django reads them
from chatsite.settings import INSTALLED_APPS as APPS_WITHOUT_SINGLE_SIGN_ON

INSTALLED_APPS = [*APPS_WITHOUT_SINGLE_SIGN_ON, "allauth.socialaccount.providers.openid_connect"]
