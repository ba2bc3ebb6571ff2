"""Definitions of the socket's frames, in both directions; `frame` writes and parses them.

A frame is a JSON object whose `type` is `noun.verb`. Positions and offsets: `position` is a message's depth in its
conversation, `at`, `start` and `end` count Unicode code points of a reply's content.

`reply.delta` says: from code point *at* on, the content of this *step* is *text*; `reply.reasoning` says the same of
what the language model thinks in it. `reply.html` says: the code points from *start* to *end* are finished blocks and
look like *html*. A page appends what follows what it has, ignores what it
already has, and asks with `conversation.sync` when there is a gap or another step: the answer, `conversation.snapshot`,
is the stored truth from a position on. So a duplicate, a loss, a reload, a second tab and a reconnect all heal by the
same rule.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .frame import Frame


@dataclass(frozen=True, slots=True)
class ConversationFrame(Frame):
    """Base of the frames about one conversation."""

    conversation: uuid.UUID


# From the page


@dataclass(frozen=True, slots=True)
class PageFrame(ConversationFrame):
    """Base of the frames that a page sends."""


@dataclass(frozen=True, slots=True)
class MessagePost(PageFrame):
    """Send *content*, with *pictures* by their ids if there are any.

    Sent again with the same *client_id* it is the same message.
    """

    type: ClassVar[str] = "message.post"
    client_id: uuid.UUID
    content: str
    pictures: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class MessageEdit(PageFrame):
    """Add a new version of *message*, with *pictures* by their ids, or with those it has where none are named.

    Sent again with the same *client_id* it is the same version.
    """

    type: ClassVar[str] = "message.edit"
    message: int
    client_id: uuid.UUID
    content: str
    pictures: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReplyStop(PageFrame):
    type: ClassVar[str] = "reply.stop"
    reply: int


@dataclass(frozen=True, slots=True)
class ReplyRegenerate(PageFrame):
    """Regenerate the last reply, as a version beside *reply*."""

    type: ClassVar[str] = "reply.regenerate"
    reply: int


@dataclass(frozen=True, slots=True)
class ReplyRegenerateWith(PageFrame):
    """The same by another *language_model*, for this version alone."""

    type: ClassVar[str] = "reply.regenerate_with"
    reply: int
    language_model: str


@dataclass(frozen=True, slots=True)
class ReplyContinue(PageFrame):
    """Continue the last reply, which was cut off. *length* is how many code points of it the page shows.

    Sent again it changes nothing: the reply has gone on from there.
    """

    type: ClassVar[str] = "reply.continue"
    reply: int
    length: int


@dataclass(frozen=True, slots=True)
class ModelChoose(PageFrame):
    """Go on with another language model and *effort* from the next reply on. Blank is the scenario's."""

    type: ClassVar[str] = "model.choose"
    language_model: str
    effort: str


@dataclass(frozen=True, slots=True)
class CallDecide(PageFrame):
    """Approve or refuse a tool call. *digest* is the one of the arguments that the user has seen."""

    type: ClassVar[str] = "call.decide"
    call: int
    digest: str
    allowed: bool


@dataclass(frozen=True, slots=True)
class ConversationSync(PageFrame):
    """Follow the conversation from now on, and send what is stored from *from_position* on."""

    type: ClassVar[str] = "conversation.sync"
    from_position: int


# From the server


@dataclass(frozen=True, slots=True)
class MessageStored(ConversationFrame):
    """A user message and its empty reply are stored, at *position* and the one after it, and end what is shown.

    *cleaned*: characters that can't be stored were taken out of what the user typed.
    """

    type: ClassVar[str] = "message.stored"
    client_id: uuid.UUID | None
    message: int
    reply: int
    position: int
    cleaned: bool


@dataclass(frozen=True, slots=True)
class ReplyStarted(ConversationFrame):
    """A worker makes *reply* now, or continues it; an earlier version at *position* is no longer shown."""

    type: ClassVar[str] = "reply.started"
    reply: int
    position: int


@dataclass(frozen=True, slots=True)
class ReplySearching(ConversationFrame):
    """The web is searched for the question of *reply*, or no longer; text or reasoning of it means no longer, too."""

    type: ClassVar[str] = "reply.searching"
    reply: int
    lasts: bool


@dataclass(frozen=True, slots=True)
class ReplyDelta(ConversationFrame):
    type: ClassVar[str] = "reply.delta"
    reply: int
    step: int
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class ReplyReasoning(ConversationFrame):
    """A piece of the reasoning, which is no part of the reply's content and has offsets of its own."""

    type: ClassVar[str] = "reply.reasoning"
    reply: int
    step: int
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class ReplyHtml(ConversationFrame):
    type: ClassVar[str] = "reply.html"
    reply: int
    step: int
    start: int
    end: int
    html: str


@dataclass(frozen=True, slots=True)
class ReplyStep(ConversationFrame):
    """The tool calls of *reply* have changed; it is at its *step*, from 1, and a snapshot says what they are now.

    With each step its text begins again at 0; the text before is with the calls.
    """

    type: ClassVar[str] = "reply.step"
    reply: int
    step: int


@dataclass(frozen=True, slots=True)
class ReplyRestarted(ConversationFrame):
    """The text of *reply* begins again at 0 in its *step*: what was shown of it so far was thought, and no reply.

    Of a reply that is continued, what it said before follows as a delta.
    """

    type: ClassVar[str] = "reply.restarted"
    reply: int
    step: int


@dataclass(frozen=True, slots=True)
class ReplyDone(ConversationFrame):
    """The reply is *state* (complete or stopped) and stored whole: *length* code points.

    Thinking took so many seconds and tokens in all of its steps; both are 0 where the language model did not think.
    """

    type: ClassVar[str] = "reply.done"
    reply: int
    position: int
    state: str
    length: int
    reasoning_seconds: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ReplyFailed(ConversationFrame):
    """The reply is *state* (failed or interrupted); its partial text is stored, and a snapshot says why in a sentence.

    That is in the reader's language, which is not known where this frame is sent to many pages.
    """

    type: ClassVar[str] = "reply.failed"
    reply: int
    position: int
    state: str
    code: str


@dataclass(frozen=True, slots=True)
class WindowRecorded(ConversationFrame):
    """The window of *reply*: its prompt's tokens of the budget, and the oldest position that the model sees.

    *recalled* are the messages before it that the model sees again for this reply, which may cite so many *passages*;
    *recalled_positions* are where they stand.
    """

    type: ClassVar[str] = "window.recorded"
    reply: int
    prompt_tokens: int
    budget_tokens: int
    first_position: int
    recalled: tuple[int, ...] = ()
    passages: int = 0
    recalled_positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageMarked(ConversationFrame):
    """The message was pinned, excluded or kept from being recalled, or that was undone."""

    type: ClassVar[str] = "message.marked"
    message: int
    position: int
    pinned: bool
    excluded: bool
    never_recalled: bool


@dataclass(frozen=True, slots=True)
class MessagesForgotten(ConversationFrame):
    """What stands above position *before* is in no later request; 0 if everything is remembered."""

    type: ClassVar[str] = "messages.forgotten"
    before: int


@dataclass(frozen=True, slots=True)
class MessageShown(ConversationFrame):
    """Another version is shown at *position*, and what was said after it."""

    type: ClassVar[str] = "message.shown"
    message: int
    position: int


@dataclass(frozen=True, slots=True)
class ModelChosen(ConversationFrame):
    """The conversation goes on with *language_model*, at *effort*: the names as they are stored, blank the scenario's.

    Sent as well when another scenario is chosen. A page asks for what it shows of it, in its reader's language.
    """

    type: ClassVar[str] = "model.chosen"
    language_model: str
    effort: str


@dataclass(frozen=True, slots=True)
class ConversationAwaitsApproval(ConversationFrame):
    """Whether a reply in *conversation* is *awaiting_approval* of a tool call. For all pages of its owner."""

    type: ClassVar[str] = "conversation.awaiting_approval"
    awaiting_approval: bool


@dataclass(frozen=True, slots=True)
class ConversationWriting(ConversationFrame):
    """Whether a reply in *conversation* is being made: *writing*. For all pages of its owner."""

    type: ClassVar[str] = "conversation.writing"
    writing: bool


@dataclass(frozen=True, slots=True)
class ConversationRenamed(ConversationFrame):
    """The conversation has another *title*, by its owner or by a language model. For all pages of its owner."""

    type: ClassVar[str] = "conversation.renamed"
    title: str


@dataclass(frozen=True, slots=True)
class ConversationDeleted(ConversationFrame):
    """Whether the conversation is *deleted*, and whether that *can_be_undone*. For all pages of its owner."""

    type: ClassVar[str] = "conversation.deleted"
    deleted: bool
    can_be_undone: bool


@dataclass(frozen=True, slots=True)
class ListChanged(Frame):
    """These *conversations* were starred, archived or moved, or that was undone. For all pages of their owner.

    Pages ask for the list again, and for what else they show of it.
    """

    type: ClassVar[str] = "list.changed"
    conversations: tuple[uuid.UUID, ...]


@dataclass(frozen=True, slots=True)
class ConversationSnapshot(ConversationFrame):
    """What is stored from *from_position* on: one piece of HTML per message, oldest first.

    That is the position that was asked for, or a later one where too many messages are stored for one frame. *parent*
    is the message before it, if there is one: a page that has another one there has missed a new version further up.
    *model_key* changes with what the header says of the language model, which a page asks for then.
    *costs* is HTML too: what the conversation has cost so far, unless its owner hides that. *awaiting_approval*
    names all conversations of its owner that await approval, and *writing* those in which a reply is being made, for
    pages that have missed such a frame. *live* is false while the process has lost Redis: text that other processes
    write then comes by the next snapshot.
    """

    type: ClassVar[str] = "conversation.snapshot"
    from_position: int
    parent: int | None
    title: str
    messages: tuple[Mapping[str, Any], ...]
    window: Mapping[str, Any]
    costs: str
    model_key: str
    awaiting_approval: tuple[uuid.UUID, ...]
    writing: tuple[uuid.UUID, ...]
    live: bool


@dataclass(frozen=True, slots=True)
class ErrorFrame(Frame):
    """Something that the page asked for was refused; *client_id* names the message that it was."""

    type: ClassVar[str] = "error"
    code: str
    message: str
    conversation: uuid.UUID | None = None
    client_id: uuid.UUID | None = None


FROM_PAGE: dict[str, type[PageFrame]] = {
    frame.type: frame
    for frame in (
        MessagePost,
        MessageEdit,
        ReplyStop,
        ReplyRegenerate,
        ReplyRegenerateWith,
        ReplyContinue,
        ModelChoose,
        CallDecide,
        ConversationSync,
    )
}
FROM_SERVER: dict[str, type[Frame]] = {
    frame.type: frame
    for frame in (
        MessageStored,
        ReplyStarted,
        ReplySearching,
        ReplyDelta,
        ReplyReasoning,
        ReplyHtml,
        ReplyStep,
        ReplyRestarted,
        ReplyDone,
        ReplyFailed,
        WindowRecorded,
        MessageMarked,
        MessagesForgotten,
        MessageShown,
        ModelChosen,
        ConversationAwaitsApproval,
        ConversationWriting,
        ConversationRenamed,
        ConversationDeleted,
        ListChanged,
        ConversationSnapshot,
        ErrorFrame,
    )
}
