from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        from chatsite.health.redis_probe import register_hearing

        from . import checks  # noqa: F401  # registers them
        from .backup_probe import register_backup_probe
        from .live.redis_echo import redis_echo
        from .services.deletion_signals import connect_signals
        from .worker_probe import register_worker_probe

        connect_signals()
        register_hearing(lambda: redis_echo.hears)
        register_worker_probe()
        register_backup_probe()
