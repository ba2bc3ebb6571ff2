from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "chatsite.accounts"
    label = "accounts"

    def ready(self) -> None:
        from chatsite.accounts import checks  # noqa: F401  registers the checks
