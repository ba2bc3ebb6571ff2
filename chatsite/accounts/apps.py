from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "chatsite.accounts"
    label = "accounts"
    verbose_name = _("Accounts")

    def ready(self) -> None:
        from allauth.mfa.signals import authenticator_added  # models are there only now

        from chatsite.accounts import checks  # noqa: F401  registers the checks
        from chatsite.accounts.second_factors.factors import remember_new_factor
        from chatsite.accounts.sessions.own_sessions import watch_passwords

        authenticator_added.connect(remember_new_factor)
        watch_passwords()
