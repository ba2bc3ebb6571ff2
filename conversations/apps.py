from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import pre_delete


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = "Conversations"

    def ready(self) -> None:
        from . import checks  # noqa: F401  # registers them
        from .services.forget_sent import forget_sent
        from .services.forget_words import forget_words
        from .services.spending import forget_payer

        pre_delete.connect(forget_payer, sender=settings.AUTH_USER_MODEL)
        pre_delete.connect(forget_words, sender="conversations.Document")
        pre_delete.connect(forget_sent, sender="conversations.Conversation")
