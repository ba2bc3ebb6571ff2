"""`{% draw_entries group current %}`: the entries of a group of the list."""

from __future__ import annotations

import uuid

from django import template
from django.utils.safestring import SafeString

from conversations.views.conversation_list.date_groups import Group
from conversations.views.conversation_list.draw_entries import draw_entries as draw
from conversations.views.conversation_list.listed_conversations import KindGroup

register = template.Library()


@register.simple_tag
def draw_entries(group: Group | KindGroup, current: uuid.UUID | None) -> SafeString:
    return draw(group.conversations, kind=group.kind, current=current)
