"""`manage.py rebuild_message_index [--conversation ID]`: make the index that finds older messages again."""

from __future__ import annotations

import uuid
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from conversations.management.database_command import DatabaseCommand
from conversations.models import Conversation, MessageIndex
from conversations.services.message_index.index_messages import rebuild_index


class Command(DatabaseCommand):
    """The site may go on meanwhile; until a conversation is done, recall finds less in it."""

    help = "Rebuild the index of older messages, of one conversation or of all, as after a change of SEARCH_LANGUAGE."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--conversation", metavar="ID", type=uuid.UUID, help="the id in the conversation's address")

    def handle(self, *, conversation: uuid.UUID | None, **options: Any) -> None:
        chosen = Conversation.objects.filter(deleted_at=None).order_by("pk")
        if conversation:
            chosen = chosen.filter(public_id=conversation)
            if not chosen.exists():
                raise CommandError(f"There is no conversation {conversation}.")
        ids = list(chosen.values_list("pk", flat=True))
        for pk in ids:
            rebuild_index(pk)
        passages = sum(MessageIndex.objects.filter(pk__in=ids).values_list("passages", flat=True))
        self.stdout.write(f"{len(ids)} conversations, {passages} passages.")
