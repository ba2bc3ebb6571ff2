from django.apps import AppConfig
from django.db.models.signals import pre_delete


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = "Conversations"

    def ready(self) -> None:
        from . import checks  # noqa: F401  # registers them
        from .services.forget_sent import forget_sent
        from .services import forget_in_ledger
        from .services.forget_words import forget_words

        forget_in_ledger.connect()
        pre_delete.connect(forget_words, sender="conversations.Document")
        pre_delete.connect(forget_sent, sender="conversations.Conversation")
