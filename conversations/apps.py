from django.apps import AppConfig
from django.db.models.signals import pre_delete
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        from . import checks  # noqa: F401  # registers them
        from .services.documents.forget_document_text import forget_words
        from .services.ledger import anonymize_ledger
        from .services.ledger.forget_sent_text import forget_sent

        # What was sent is found by the conversation, which the ledger forgets then.
        pre_delete.connect(forget_sent, sender="conversations.Conversation")
        anonymize_ledger.connect()
        pre_delete.connect(forget_words, sender="conversations.Document")
