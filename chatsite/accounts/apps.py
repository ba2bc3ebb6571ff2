from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "chatsite.accounts"
    label = "accounts"
    verbose_name = _("Accounts")

    def ready(self) -> None:
        from chatsite.accounts.second_factors.deferred_module import defer_module

        defer_module("allauth.mfa.webauthn.internal.auth")  # before anything imports it

        from allauth.mfa.signals import authenticator_added  # models can be imported only now

        from chatsite.accounts import checks  # noqa: F401  registers the checks
        from chatsite.accounts.second_factors.factors import record_new_factor
        from chatsite.accounts.security.form_tokens import make_tokens_of_few_calls
        from chatsite.accounts.security.security_signals import connect_security_signals
        from chatsite.accounts.sessions.session_list import connect_password_signals
        from chatsite.accounts.sessions.session_middleware import connect_sign_out_signal
        from chatsite.accounts.sign_in.known_device import connect_known_device_signals

        authenticator_added.connect(record_new_factor)
        connect_password_signals()
        connect_sign_out_signal()
        connect_known_device_signals()
        connect_security_signals()
        make_tokens_of_few_calls()
