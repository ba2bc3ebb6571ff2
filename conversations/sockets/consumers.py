"""The WebSocket consumer of a page: translates frames to calls of services, and sends what comes by `fanout`.

A page follows one conversation, and gets what is for all pages of its user. Nothing is decided here.

A handler never waits for a reply: the worker makes it, and its frames come by `fanout`. Every frame checks again whose
session it is, and the session watcher does each second, because rights can be lost while a socket is open.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error as DatabaseError
from structlog.contextvars import bind_contextvars

from chatsite.accounts.models import User
from chatsite.accounts.sessions.session_store import find_session_user
from chatsite.postgres.faults import is_database_away, is_outage, is_passing_fault
from chatsite.postgres.pool import is_pool_full
from conversations import metrics
from conversations.access import find_conversation, require_admitted
from conversations.core.errors import (
    AccessError,
    ConversationError,
    DatabaseAway,
    FrameError,
    GateClosed,
    ReplyInProgress,
    SignInRequired,
    SiteBusy,
    TooManyRequestsAtOnce,
)
from conversations.core.frames.definitions import (
    FROM_PAGE,
    CallDecide,
    ConversationSync,
    ErrorFrame,
    MessageEdit,
    MessagePost,
    ModelChoose,
    PageFrame,
    ReplyContinue,
    ReplyRegenerate,
    ReplyRegenerateWith,
    ReplyStop,
)
from conversations.core.frames.frame import parse_frame
from conversations.live.database_threads import in_rendering_thread, in_thread
from conversations.live.fanout import conversation_topic, person_topic
from conversations.live.session_watcher import session_watcher
from conversations.live.user_turns import QueueFull
from conversations.models import Conversation
from conversations.services.conversations.language_model import choose_language_model
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.post_message import (
    PostedMessage,
    is_counted_ahead,
    post_message,
    post_message_of_session,
)
from conversations.services.replies.approve_tool_call import decide_call
from conversations.services.replies.continue_reply import continue_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.replies.stop_reply import stop_reply
from conversations.services.replies.wait_for_stop import is_reply_stopping, wait_for_stop
from conversations.views.conversations.snapshot import conversation_snapshot
from conversations.wording.error_sentences import error_sentence, socket_reader

from .handshake_turns import refuse
from .send_buffer import SEND_NOW, SendBuffer
from .socket_shares import shares
from .subscriptions import Subscriptions

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger(__name__)

CLOSE_SIGNED_OUT = 4401
CLOSE_GATE_SHUT = 4403
CLOSE_TRY_AGAIN_LATER = 1013  # to a page that reads too slowly, or that could not be sent to
NOT_ADMITTED = (SignInRequired, GateClosed)


class PageConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # Channels has no types
    """One page of one user."""

    _rechecking: asyncio.Task[None] | None = None
    _waiting_for_stop: asyncio.Task[None] | None = None
    _is_counted = False
    _is_closed = False
    _user_id: int | None = None

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve the page from its handshake on, and let go of all that it holds however that ends.

        Channels calls `disconnect` for an event alone, which is never read where the page has gone meanwhile. It waits
        for each event in a task of its own, since there may be a channel layer beside the socket: here is `fanout`.
        """
        self.scope, self.base_send = scope, send
        send_now = scope.get("extensions", {}).get(SEND_NOW)
        self.buffer = SendBuffer(send=self._send_text, close=self._close_given_up_page, send_now=send_now)
        self.subscriptions = Subscriptions(self.buffer.put, give_up=self.buffer.give_up)
        try:
            while True:
                await self.dispatch(await receive())
        except StopConsumer:
            pass
        finally:
            await self._let_go()

    async def dispatch(self, message: Mapping[str, Any]) -> None:
        """Call the method of an event. Channels closes connections in a thread first: `database_threads` does that."""
        await getattr(self, get_handler_name(message))(message)

    async def websocket_disconnect(self, message: Mapping[str, Any]) -> None:
        """End with the socket: there are no groups to leave, and connections are closed as in `dispatch`."""
        raise StopConsumer

    async def connect(self) -> None:
        try:
            user = await self._current_user()
        except NOT_ADMITTED:
            await self.close()  # before it is accepted: the handshake answers 403
            return
        if not shares().take_socket(user.pk):
            logger.info("a user has too many open pages", extra={"user_id": user.pk})
            await refuse(self.scope, self.base_send)
            return
        self._user_id = user.pk
        self.reader = socket_reader(self.scope, user)
        await self.accept()
        metrics.open_sockets.inc()
        self._is_counted = True
        self.buffer.start()
        session_watcher().watch(self.scope["session_key"], self._recheck_admission)
        await self.subscriptions.listen_to(person_topic(user.pk))

    async def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Close the socket once, and send nothing more. A page that has gone can't be told."""
        self.buffer.stop()
        if not self._is_closed:
            self._is_closed = True
            with suppress(OSError):
                await super().close(code, reason)

    async def _let_go(self) -> None:
        if self._is_counted:
            metrics.open_sockets.dec()
        if self._user_id is not None:
            shares().give_socket_back(self._user_id)
        session_watcher().forget(self._recheck_admission)
        if self._waiting_for_stop is not None:
            self._waiting_for_stop.cancel()
        self.buffer.stop()
        await self.subscriptions.listen_to()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.buffer.is_given_up:  # it is being closed, and would not read the answer
            return
        try:
            frame = parse_frame(_decode(text_data), FROM_PAGE)
        except FrameError as error:
            self._refuse(error, None)
        except Exception:
            logger.exception("a frame could not be read")
            self._refuse(ConversationError(), None)
        else:
            await self._answer(frame)

    async def _answer(self, frame: PageFrame, *, may_wait: bool = True) -> None:
        """Handle *frame*, or say why not. One that finds a reply being stopped is handled again once that has ended."""
        try:
            async with shares().turns_for(frame).turn(self._user_id):
                await self._handle(frame)
        except QueueFull:
            self._refuse(TooManyRequestsAtOnce(), frame)
        except NOT_ADMITTED as error:
            await self.close(_close_code(error))
        except ReplyInProgress as error:
            is_other_waiting = self._waiting_for_stop is not None and not self._waiting_for_stop.done()
            if may_wait and not is_other_waiting and await self._is_stopping(frame):
                self._waiting_for_stop = asyncio.create_task(self._answer_after_stop(frame))
            else:
                self._refuse(error, frame)
        except ConversationError as error:
            self._refuse(error, frame)
        except DatabaseError as error:
            self._refuse_for_database(error, frame)
        except Exception:
            logger.exception("a frame could not be handled")
            self._refuse(ConversationError(), frame)

    def _refuse_for_database(self, error: DatabaseError, frame: PageFrame) -> None:
        if not is_database_away(error):
            logger.exception("a frame could not be handled")
            self._refuse(ConversationError(), frame)
            return
        logger.warning("a frame was refused, because the database is away: %s", str(error).partition("\n")[0])
        self._refuse(SiteBusy() if is_pool_full(error) else DatabaseAway(), frame)

    async def _is_stopping(self, frame: PageFrame) -> bool:
        return await in_thread(is_reply_stopping)(frame.conversation, owner_id=self._user_id)

    async def _answer_after_stop(self, frame: PageFrame) -> None:
        """Wait beside the socket's other frames: those of the page, such as another Stop, and those to it."""
        await wait_for_stop(partial(self._is_stopping, frame))
        await self._answer(frame, may_wait=False)

    async def _handle(self, frame: PageFrame) -> None:
        if isinstance(frame, MessagePost) and await self._post_at_once(frame):
            return
        conversation = await _read(_find_conversation, self.scope["session_key"], frame.conversation)
        bind_contextvars(conversation_id=str(frame.conversation), user_id=conversation.owner_id)
        await self._HANDLERS[type(frame)](self, conversation, frame)

    def _refuse(self, error: ConversationError, frame: PageFrame | None) -> None:
        if isinstance(error, FrameError):
            logger.info("a bad frame: %s", error.detail)
        answer = ErrorFrame(
            code=error.code,
            message=error_sentence(error, self.reader),
            conversation=frame.conversation if frame else None,
            client_id=getattr(frame, "client_id", None),
        )
        self.buffer.put(answer.to_json())

    # From the page

    async def _post(self, conversation: Conversation, frame: MessagePost) -> None:
        """Store the message; one that is stored already is acknowledged again, to this page alone."""
        await self._follow(conversation)
        posted = await in_thread(post_message)(
            user=conversation.owner,
            conversation=conversation,
            content=frame.content,
            client_id=frame.client_id,
            pictures=frame.pictures or (),
        )
        self._acknowledge_again(conversation.public_id, posted)

    async def _post_at_once(self, frame: MessagePost) -> bool:
        """Store the message to the conversation that the page follows, in one call of a thread, as most messages are.

        Returns False if session, admission or conversation are not as at the last check, or the connection to the
        database was lost: then it is posted step by step, which says what is wrong.
        """
        fingerprint = session_watcher().fingerprint_of(self.scope["session_key"])
        if fingerprint is None or not self._follows(frame.conversation) or is_counted_ahead(frame.content):
            return False
        bind_contextvars(conversation_id=str(frame.conversation), user_id=self._user_id)
        try:
            posted = await in_thread(post_message_of_session)(
                session_key=self.scope["session_key"],
                fingerprint=fingerprint,
                conversation=frame.conversation,
                content=frame.content,
                client_id=frame.client_id,
                pictures=frame.pictures or (),
            )
        except DatabaseError as error:  # of a lost connection; should it be stored after all, its client_id is known
            if not is_outage(error.__cause__ or error) or is_pool_full(error):
                raise
            return False
        if posted is None:
            return False
        self._acknowledge_again(frame.conversation, posted)
        return True

    async def _edit(self, conversation: Conversation, frame: MessageEdit) -> None:
        """Store a new version of the message; one that is stored already is acknowledged again, as in `_post`."""
        await self._follow(conversation)
        posted = await in_thread(edit_message)(
            user=conversation.owner,
            conversation=conversation,
            message_id=frame.message,
            content=frame.content,
            client_id=frame.client_id,
            pictures=frame.pictures,
        )
        self._acknowledge_again(conversation.public_id, posted)

    def _acknowledge_again(self, public_id: uuid.UUID, posted: PostedMessage) -> None:
        if not posted.created:
            self.buffer.put(posted.to_frame(public_id).to_json())

    async def _stop(self, conversation: Conversation, frame: ReplyStop) -> None:
        await in_thread(stop_reply)(conversation=conversation, reply_id=frame.reply)

    async def _regenerate(self, conversation: Conversation, frame: ReplyRegenerate) -> None:
        await in_thread(regenerate_reply)(user=conversation.owner, conversation=conversation, reply_id=frame.reply)

    async def _regenerate_with(self, conversation: Conversation, frame: ReplyRegenerateWith) -> None:
        await in_thread(regenerate_reply)(
            user=conversation.owner,
            conversation=conversation,
            reply_id=frame.reply,
            language_model=frame.language_model,
        )

    async def _continue(self, conversation: Conversation, frame: ReplyContinue) -> None:
        await in_thread(continue_reply)(
            user=conversation.owner, conversation=conversation, reply_id=frame.reply, length=frame.length
        )

    async def _choose_model(self, conversation: Conversation, frame: ModelChoose) -> None:
        await self._follow(conversation)
        await in_thread(choose_language_model)(
            conversation, user=conversation.owner, language_model=frame.language_model, effort=frame.effort
        )

    async def _decide(self, conversation: Conversation, frame: CallDecide) -> None:
        await in_thread(decide_call)(
            conversation=conversation, call_id=frame.call, digest=frame.digest, allowed=frame.allowed
        )

    async def _send_snapshot(self, conversation: Conversation, frame: ConversationSync) -> None:
        """Follow first, then read: what is written between the two comes twice rather than never."""
        if self.buffer.is_closed:  # frames of a page that has gone are still handled, but it reads no answer
            return
        await self._follow(conversation)
        snapshot = await in_rendering_thread(conversation_snapshot)(
            conversation, frame.from_position, reader=self.reader
        )
        if not self.subscriptions.hears_elsewhere:  # the page has to ask, even if the process hears others by now
            snapshot = replace(snapshot, live=False)
        self.buffer.put(snapshot.to_json())

    _HANDLERS: dict[type[PageFrame], Callable[..., Awaitable[None]]] = {
        MessagePost: _post,
        MessageEdit: _edit,
        ReplyStop: _stop,
        ReplyRegenerate: _regenerate,
        ReplyRegenerateWith: _regenerate_with,
        ReplyContinue: _continue,
        ModelChoose: _choose_model,
        CallDecide: _decide,
        ConversationSync: _send_snapshot,
    }

    async def _follow(self, conversation: Conversation) -> None:
        await self.subscriptions.listen_to(*_topics_of(conversation.owner_id, conversation.public_id))

    def _follows(self, public_id: uuid.UUID) -> bool:
        return self._user_id is not None and self.subscriptions.listens_to(*_topics_of(self._user_id, public_id))

    # To the page

    async def _send_text(self, payload: str) -> None:
        await self.base_send({"type": "websocket.send", "text": payload})  # as `send` does by way of two others

    async def _close_given_up_page(self) -> None:
        await self.close(CLOSE_TRY_AGAIN_LATER)

    # Whether its user is still admitted

    def _recheck_admission(self) -> None:
        self._rechecking = asyncio.create_task(self._close_unless_admitted())

    async def _close_unless_admitted(self) -> None:
        try:
            await self._current_user()
        except DatabaseError as error:
            if not is_passing_fault(error):
                raise
        except NOT_ADMITTED as error:
            await self.close(_close_code(error))

    async def _current_user(self) -> User:
        return await _read(_load_user, self.scope["session_key"])


async def _read(reader: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """Return what *reader* reads, at the second try if it meets a connection that the server has just ended.

    It is the first to use one that is trusted, and changes nothing; those after it find the connections replaced.
    """
    try:
        return await in_thread(reader)(*arguments, **named)
    except DatabaseError as error:
        if not is_passing_fault(error) or is_pool_full(error):
            raise
    return await in_thread(reader)(*arguments, **named)


def _load_user(session_key: str | None) -> User:
    """Return the user of the session now, not when the socket was opened. Raises `SignInRequired` or a `GateClosed`."""
    user = find_session_user(session_key)
    require_admitted(user)
    return user  # type: ignore[return-value]


def _find_conversation(session_key: str | None, public_id: uuid.UUID) -> Conversation:
    """Return the conversation, if it belongs to the user whose session it is."""
    return find_conversation(_load_user(session_key), public_id)


def _topics_of(user_id: int, public_id: uuid.UUID) -> tuple[str, str]:
    return person_topic(user_id), conversation_topic(public_id)


def _close_code(error: AccessError) -> int:
    return CLOSE_GATE_SHUT if isinstance(error, GateClosed) else CLOSE_SIGNED_OUT


def _decode(text_data: str | None) -> object:
    try:
        return json.loads(text_data or "")
    except (ValueError, RecursionError):
        raise FrameError("not JSON") from None
