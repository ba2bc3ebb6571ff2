"""The socket of a page: it asks for things, follows one conversation, and hears what is for all of its person's pages.

Nothing is decided here.

A handler never waits for a reply: the worker makes it, and its frames come by `fanout`. Every frame asks anew who the
person is, and so does delivery every now and then, because rights can be lost while a socket is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import InterfaceError, OperationalError

from chatsite.accounts.models import User
from chatsite.accounts.sessions.session_users import find_session_user
from conversations.access import find_conversation, require_admitted
from conversations.core.errors import AccessError, ConversationError, FrameError, GateShut, SignInRequired
from conversations.core.frames.definitions import (
    CallDecide,
    ConversationSync,
    ErrorFrame,
    Frame,
    MessageEdit,
    MessagePost,
    ReplyRegenerate,
    ReplyStop,
)
from conversations.core.frames.read_frames import parse_frame
from conversations.live.database_threads import in_rendering_thread, in_thread
from conversations.live.fanout import PROCESS_ID, Subscriber, conversation_topic, person_topic, subscribe, unsubscribe
from conversations.live.session_watcher import sign_ins
from conversations.models import Conversation
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.post_message import PostedMessage, post_message
from conversations.services.replies.approve_tool_call import decide_call
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.replies.stop_reply import stop_reply
from conversations.views.conversations.snapshot import conversation_snapshot
from conversations.wording.error_sentences import reader_of_socket, sentence_of

logger = logging.getLogger(__name__)

SIGNED_OUT = 4401
GATE_SHUT = 4403
SHUT_OUT = (SignInRequired, GateShut)
READS_TOO_SLOWLY = 1013
MOST_UNSENT_FRAMES = 1000
MOST_UNSENT_CHARACTERS = 4_000_000
# Redis may be away; the page must not wait for it.
LAYER_PATIENCE_SECONDS = 1.0


class Unsent:
    """What waits to be sent to a page. One that reads nothing must not fill the memory: then all is dropped.

    Such a page is closed, if it still hears that, and asks for what it missed when it comes back.
    """

    def __init__(self) -> None:
        self.overflowed = False
        self._payloads: asyncio.Queue[str] = asyncio.Queue()
        self._characters = 0

    def put(self, payload: str) -> None:
        self._characters += len(payload)
        self._payloads.put_nowait(payload)
        waiting = self._payloads.qsize()
        # One payload alone may be as large as it likes: a page that closed over it would ask for it again, for ever.
        if (waiting > 1 and self._characters > MOST_UNSENT_CHARACTERS) or waiting > MOST_UNSENT_FRAMES:
            self.overflowed = True
            self._payloads = asyncio.Queue()

    async def get(self) -> str:
        payload = await self._payloads.get()
        self._characters -= len(payload)
        return payload


class PageConsumer(AsyncWebsocketConsumer):
    """One page of one person."""

    async def dispatch(self, message: Mapping[str, Any]) -> None:
        """Hand an event to its method. Channels has a thread close connections first; `threads` does that for us."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        self.topics: set[str] = set()
        self.topics_elsewhere: set[str] = set()
        self.unsent = Unsent()
        self.sending: asyncio.Task[None] | None = None
        self.doubting: asyncio.Task[None] | None = None
        try:
            user = await self._user()
        except SHUT_OUT:
            await self.close()  # before it is accepted: the handshake answers 403
            return
        self.reader = reader_of_socket(self.scope, user)
        self.subscriber = Subscriber(self._queue)
        await self.accept()
        self.sending = asyncio.create_task(self._send_for_ever())
        sign_ins().watch(self.scope["session"].session_key, self._doubt)
        await self._listen({person_topic(user.pk)})

    async def disconnect(self, code: int) -> None:
        sign_ins().forget(self._doubt)
        if self.sending:
            self.sending.cancel()
        await self._listen(set())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.unsent.overflowed:  # it is being closed, and would not read the answer
            return
        frame: Frame | None = None
        try:
            frame = parse_frame(_decode(text_data))
            conversation = await in_thread(_find)(self.scope["session"].session_key, frame.conversation)
            await self._HANDLERS[type(frame)](self, conversation, frame)
        except SHUT_OUT as error:
            await self.close(_close_code(error))
        except ConversationError as error:
            self._refuse(error, frame)
        except Exception:
            logger.exception("a frame could not be handled")
            self._refuse(ConversationError(), frame)

    def _refuse(self, error: ConversationError, frame: Frame | None) -> None:
        if isinstance(error, FrameError):
            logger.info("a bad frame: %s", error.detail)
        answer = ErrorFrame(
            code=error.code,
            message=sentence_of(error, self.reader),
            conversation=getattr(frame, "conversation", None),
            client_id=getattr(frame, "client_id", None),
        )
        self._queue(answer.to_json())

    # What a page may ask for

    async def _post(self, conversation: Conversation, frame: MessagePost) -> None:
        """Store the message; one that is here already is acknowledged again, to this page alone."""
        await self._follow(conversation)
        posted = await in_thread(post_message)(
            user=conversation.owner, conversation=conversation, content=frame.content, client_id=frame.client_id
        )
        self._acknowledge_again(conversation, posted)

    async def _edit(self, conversation: Conversation, frame: MessageEdit) -> None:
        """Store a new version of the message; like a message, one that is here already is acknowledged again."""
        await self._follow(conversation)
        posted = await in_thread(edit_message)(
            user=conversation.owner,
            conversation=conversation,
            message_id=frame.message,
            content=frame.content,
            client_id=frame.client_id,
        )
        self._acknowledge_again(conversation, posted)

    def _acknowledge_again(self, conversation: Conversation, posted: PostedMessage) -> None:
        if not posted.created:
            self._queue(posted.to_frame(conversation.public_id).to_json())

    async def _stop(self, conversation: Conversation, frame: ReplyStop) -> None:
        await in_thread(stop_reply)(conversation=conversation, reply_id=frame.reply)

    async def _regenerate(self, conversation: Conversation, frame: ReplyRegenerate) -> None:
        await in_thread(regenerate_reply)(user=conversation.owner, conversation=conversation, reply_id=frame.reply)

    async def _decide(self, conversation: Conversation, frame: CallDecide) -> None:
        await in_thread(decide_call)(
            conversation=conversation, call_id=frame.call, digest=frame.digest, allowed=frame.allowed
        )

    async def _send_snapshot(self, conversation: Conversation, frame: ConversationSync) -> None:
        """Follow first and read then: what is written between the two comes twice rather than never."""
        await self._follow(conversation)
        snapshot = await in_rendering_thread(conversation_snapshot)(
            conversation, frame.from_position, reader=self.reader
        )
        self._queue(snapshot.to_json())

    _HANDLERS: dict[type[Frame], Callable[..., Awaitable[None]]] = {
        MessagePost: _post,
        MessageEdit: _edit,
        ReplyStop: _stop,
        ReplyRegenerate: _regenerate,
        CallDecide: _decide,
        ConversationSync: _send_snapshot,
    }

    # What comes to a page

    async def _follow(self, conversation: Conversation) -> None:
        await self._listen({person_topic(conversation.owner_id), conversation_topic(conversation.public_id)})

    async def _listen(self, topics: set[str]) -> None:
        for topic in self.topics - topics:
            unsubscribe(topic, self.subscriber)
        for topic in topics - self.topics:
            subscribe(topic, self.subscriber)
        self.topics = topics
        if self.channel_layer and topics != self.topics_elsewhere:
            await self._listen_elsewhere(topics)

    async def _listen_elsewhere(self, topics: set[str]) -> None:
        """Hear other processes too; while Redis is away it is tried again with the next thing the page asks for."""
        try:
            async with asyncio.timeout(LAYER_PATIENCE_SECONDS):
                for topic in self.topics_elsewhere - topics:
                    await self.channel_layer.group_discard(topic, self.channel_name)
                for topic in topics - self.topics_elsewhere:
                    await self.channel_layer.group_add(topic, self.channel_name)
            self.topics_elsewhere = topics
        except Exception:
            logger.warning("a page does not hear the other processes", exc_info=True)

    async def fanout_payload(self, event: dict[str, Any]) -> None:
        """A frame from another process; those of this one came directly."""
        if event["origin"] != PROCESS_ID:
            self._queue(event["payload"])

    def _queue(self, payload: str) -> None:
        if self.unsent.overflowed:
            return
        self.unsent.put(payload)
        if self.unsent.overflowed and self.sending:
            self.sending.cancel()

    async def _send_for_ever(self) -> None:
        try:
            while True:
                await self.send(text_data=await self.unsent.get())
        except asyncio.CancelledError:
            if self.unsent.overflowed:
                with contextlib.suppress(Exception):
                    await self.close(READS_TOO_SLOWLY)
            raise

    def _doubt(self) -> None:
        self.doubting = asyncio.create_task(self._close_unless_admitted())

    async def _close_unless_admitted(self) -> None:
        try:
            with contextlib.suppress(OperationalError, InterfaceError):
                await self._user()
        except SHUT_OUT as error:
            if self.sending:
                self.sending.cancel()
            await self.close(_close_code(error))

    async def _user(self) -> User:
        return await in_thread(_load_user)(self.scope["session"].session_key)


def _load_user(session_key: str | None) -> User:
    """Return whose session it is now, not when the socket was opened. Raises `SignInRequired` or a `GateShut`."""
    user = find_session_user(session_key)
    require_admitted(user)
    return user  # type: ignore[return-value]


def _find(session_key: str | None, public_id: uuid.UUID) -> Conversation:
    """Return the conversation, if it is that of the person whose session it is."""
    return find_conversation(_load_user(session_key), public_id)


def _close_code(error: AccessError) -> int:
    return GATE_SHUT if isinstance(error, GateShut) else SIGNED_OUT


def _decode(text_data: str | None) -> object:
    try:
        return json.loads(text_data or "")
    except (ValueError, RecursionError):
        raise FrameError("not JSON") from None
