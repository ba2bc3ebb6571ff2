"""Count the tokens of a response that would be asked for: those of the window that would be sent, to the last one.

What is looked up for a question is not counted: it is looked up only once that is asked.
"""

from __future__ import annotations

from django.db import transaction

from conversations.core.api.item_ids import read_conversation_id
from conversations.core.api.response_request import ResponseRequest
from conversations.core.errors import ParameterInvalid
from conversations.models import ApiKey
from conversations.services.language_models.model_context import conversation_context
from conversations.services.language_models.run_parameters import use_parameters_of_run
from conversations.services.windows.active_path import lock_conversation
from conversations.services.windows.build_window import build_window, draft_message

from .ask_response import check_it_can_be_stored, run_parameters
from .key_access import find_conversation_of_key, find_model_of_key
from .prepare_chat import prepare_chat
from .stored_responses import find_reply_of_key


def count_input(key: ApiKey, request: ResponseRequest) -> int:
    """Return how many tokens the window of *request* has. Nothing is stored.

    Raises what asking would raise, and `ParameterInvalid` after a response that others follow already.
    """
    if not request.conversation and not request.previous_response_id:
        return prepare_chat(key, request.chat).window.record.prompt_tokens
    check_it_can_be_stored(request)
    if first := next(iter(request.chat.messages.pictures.values()), None):
        raise ParameterInvalid(first[0].where, "with a conversation, pictures are not counted before they are sent")
    if request.chat.messages.history or request.chat.messages.steps or request.outputs:
        raise ParameterInvalid("input", "with a conversation, one message of the user is counted")
    configured = find_model_of_key(key, request.chat.language_model)
    with transaction.atomic():
        if request.conversation:
            conversation = find_conversation_of_key(key, read_conversation_id(request.conversation))
            locked = lock_conversation(conversation)
        else:
            conversation, reply = find_reply_of_key(key, request.previous_response_id)
            locked = lock_conversation(conversation)
            if locked.head_id != reply.pk:
                raise ParameterInvalid("previous_response_id", "only what follows the newest response can be counted")
        parameters = run_parameters(key, request, locked, configured, before_id=locked.head_id)
        use_parameters_of_run(locked, parameters)
        position = locked.head.position + 1 if locked.head else 0
        draft = draft_message(
            request.chat.messages.newest.content, position=position, context=conversation_context(locked)
        )
        return build_window(locked, draft).record.prompt_tokens
