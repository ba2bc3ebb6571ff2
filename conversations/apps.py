from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        from . import checks  # noqa: F401  # registers them
        from .services.deletions import connect_signals
        from .worker_probe import register_worker_probe

        connect_signals()
        register_worker_probe()
