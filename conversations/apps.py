from django.apps import AppConfig
from django.db.models.signals import pre_delete
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        from . import checks  # noqa: F401  # registers them
        from .services import forget_in_ledger
        from .services.forget_sent import forget_sent
        from .services.forget_words import forget_words

        # What was sent is found by the conversation, which the ledger forgets then.
        pre_delete.connect(forget_sent, sender="conversations.Conversation")
        forget_in_ledger.connect()
        pre_delete.connect(forget_words, sender="conversations.Document")
