"""The window record: how a prompt was chosen, token by token. Numbers of messages and tokens, never their content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from decimal import ROUND_CEILING, Decimal
from typing import Any, Literal, NamedTuple

from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.pictures import PicturesSent, PromptPicture
from conversations.core.prompt.prompt_format import Breakpoints, PromptFormat, Wire
from conversations.core.recall.recalled_passage import RecalledPassage

from .budget import CountText
from .history import HistoryMessage, LeftOutReason
from .pack_grounding import PackedGrounding
from .pack_recall import PackedRecall
from .system_message import SystemTokens
from .text_so_far import SentTextSoFar
from .tool_steps import SentStep

EntryKind = Literal[
    "system",
    "about_me",
    "notes",
    "pin",
    "summary",
    "older",
    "newest",
    "tool_step",
    "text_so_far",
    "continue_request",
]
Withheld = Literal["", "money"]
MOST_LEFT_OUT = 20  # hundreds may have been found, and the record is kept with every request
Part = Literal[
    "system",
    "tools",
    "notes",
    "pins",
    "summary",
    "older",
    "grounding",
    "recall",
    "newest",
    "tool_steps",
    "text_so_far",
    "free",
]
SummaryLeftOut = Literal["", "above_cap", "does_not_fit", "all_in_view"]


class WindowEntry(NamedTuple):
    """One message of the prompt, in prompt order; *tokens* are those of the message as it was sent.

    The system message has an entry for each text in it: the system prompt, and what the user's notes add to it. Of a
    truncated tool result, or of the arguments of truncated calls, only the first *truncated_to* characters were sent.
    Of *tokens* so many are of its pictures, *picture_tokens*; *pictures* says how these were sent, and *scaled_to* the
    width and height in pixels of each, if they were scaled down. Of a reply that is continued the characters
    *sent_from* to *sent_to* were sent. A tuple, like `HistoryMessage`: a window makes one for
    every message.
    """

    kind: EntryKind
    role: str
    tokens: int
    message: int | None = None
    position: int | None = None
    truncated_to: int | None = None
    picture_tokens: int = 0
    pictures: PicturesSent = ""
    scaled_to: tuple[tuple[int, int], ...] = ()
    sent_from: int = 0
    sent_to: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what is stored: nothing of pictures and of parts where it has none, as nearly all have."""
        if self.scaled_to or self.sent_to is not None:
            return self._asdict()
        return dict(zip(WITHOUT_SCALED if self.pictures else WITHOUT_PICTURES, self, strict=False))

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> WindowEntry:
        if "scaled_to" not in stored:
            return cls(**stored)
        return cls(**{**stored, "scaled_to": tuple((width, height) for width, height in stored["scaled_to"])})


WITHOUT_PICTURES = WindowEntry._fields[: WindowEntry._fields.index("picture_tokens")]
WITHOUT_SCALED = WindowEntry._fields[: WindowEntry._fields.index("scaled_to")]


@dataclass(frozen=True, slots=True)
class LeftOutMessage:
    """A message that was looked at and not sent."""

    message: int | None
    position: int
    tokens: int
    reason: LeftOutReason


@dataclass(frozen=True, slots=True)
class LookUp:
    """How passages were looked up in *documents* documents. What was not found by meaning says *semantic_error*.

    That is the code of an error, or blank where no embeddings model is configured or no vector is there yet, and so is
    *lexical_error*. *pending_documents* were still being read, and could not be looked in. *web_results* pages were
    found on the web, None where it was not searched; *web_error* is the code of why none was found.
    """

    documents: int
    searched_by: Literal["lexical", "lexical_and_semantic"] = "lexical"
    semantic_error: str = ""
    pending_documents: int = 0
    lexical_error: str = ""
    web_results: int | None = None
    web_error: str = ""


@dataclass(frozen=True, slots=True)
class GroundingPassage:
    """A passage by the *number*, from 1, under which its message keeps it.

    If it was truncated, its first *truncated_to* characters were sent.
    """

    number: int
    score: float | None
    truncated_to: int | None = None


@dataclass(frozen=True, slots=True)
class GroundingRecord:
    """The retrieved passages, best first: *tokens* of at most *limit_tokens* were sent.

    A reply cites the passages that were *included* by their place among them, from 1. Without a *look_up* there was
    nothing to look in; with one and without passages nothing was good enough.
    """

    tokens: int = 0
    limit_tokens: int = 0
    included: tuple[GroundingPassage, ...] = ()
    left_out: tuple[GroundingPassage, ...] = ()
    look_up: LookUp | None = None

    @property
    def found(self) -> int:
        """How many passages were good enough."""
        return len(self.included) + len(self.left_out)

    def to_json(self) -> dict[str, Any]:
        return {
            "tokens": self.tokens,
            "limit_tokens": self.limit_tokens,
            "included": tuple(map(asdict, self.included)),
            "left_out": tuple(map(asdict, self.left_out)),
            "look_up": asdict(self.look_up) if self.look_up else None,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> GroundingRecord:
        look_up = stored.get("look_up")
        return cls(
            tokens=stored["tokens"],
            limit_tokens=stored["limit_tokens"],
            included=tuple(GroundingPassage(**passage) for passage in stored["included"]),
            left_out=tuple(GroundingPassage(**passage) for passage in stored["left_out"]),
            look_up=LookUp(**look_up) if look_up else None,
        )


class RecallEntry(NamedTuple):
    """A passage of an older message: the characters *start* to *end* of it, which are *tokens* without their head.

    It *is_cut* where that is not all of the message. *at* is when it was said (ISO 8601, in the time zone of its day),
    *score* and *why* are what it was found by. *conversation* is another one of the same user where it was said there.
    """

    message: int
    position: int
    start: int
    end: int
    is_cut: bool
    at: str
    tokens: int
    score: float
    why: tuple[str, ...] = ()
    conversation: int | None = None

    def to_json(self) -> dict[str, Any]:
        stored = self._asdict()
        if self.conversation is None:
            del stored["conversation"]
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RecallEntry:
        return cls(**{**stored, "why": tuple(stored["why"])})


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """What was recalled of messages outside the window, best first: *tokens* of at most *limit_tokens* were sent.

    *is_looked_up* is false where there was nothing to look in, or recall is off. *error* is the code of what kept the
    look-up from its end. Of very many passages that were *left_out* the best are named, and the others counted.
    """

    tokens: int = 0
    limit_tokens: int = 0
    included: tuple[RecallEntry, ...] = ()
    left_out: tuple[RecallEntry, ...] = ()
    left_out_unnamed: int = 0
    is_looked_up: bool = False
    error: str = ""

    @property
    def found(self) -> int:
        """How many passages were good enough."""
        return len(self.included) + len(self.left_out) + self.left_out_unnamed

    @property
    def messages(self) -> tuple[int, ...]:
        """The messages of this conversation of which something was sent, by id, each once."""
        return tuple(self._positions)

    @property
    def positions(self) -> tuple[int, ...]:
        """Where `messages` stand."""
        return tuple(self._positions.values())

    @property
    def _positions(self) -> Mapping[int, int]:
        return {entry.message: entry.position for entry in self.included if entry.conversation is None}

    def to_json(self) -> dict[str, Any]:
        return {
            **{column.name: getattr(self, column.name) for column in fields(self)},
            "included": tuple(entry.to_json() for entry in self.included),
            "left_out": tuple(entry.to_json() for entry in self.left_out),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RecallRecord:
        return cls(
            **{
                **stored,
                "included": tuple(map(RecallEntry.from_json, stored["included"])),
                "left_out": tuple(map(RecallEntry.from_json, stored["left_out"])),
            }
        )


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """The summary that a window had: its *version*, of the *id*, for the messages before position *covers_before*.

    *tokens* is 0 where it was not sent; *left_out* says why.
    """

    id: int
    version: int
    covers_before: int
    tokens: int
    left_out: SummaryLeftOut = ""


@dataclass(frozen=True, slots=True)
class WindowRecord:
    """prompt = priming + tool schemas + sum of the entries ≤ budget.

    *first_position* is the oldest position from which on the language model sees the conversation; the
    *messages_before_window* were not looked at one by one (pins are in *entries* wherever they stand). Of those after
    it that were not sent, and of the newest before it, *left_out* says why; of very many it names the newest, and
    *left_out_unnamed* counts the others. Nothing below position *forgotten_before* might be sent. *anchor* is where the
    window before this one began, and *older_limit_tokens* the room that there was for older messages. *recall* tells of
    those that were sent again beside the newest message.
    *summary* is the summary of what is before it, where there was one. *tools_withheld* says why the reply might call
    no tools, or no more of them, although its scenario has some: the money did not cover what may follow. *wire* and
    *breakpoints* say how the prompt was written.
    """

    language_model: str
    encoding: str
    context_window_tokens: int
    reply_reserve_tokens: int
    budget_tokens: int
    prompt_tokens: int
    priming_tokens: int
    tool_schema_tokens: int
    calibration: str
    policy: Mapping[str, Any]
    entries: tuple[WindowEntry, ...]
    first_position: int
    messages_before_window: int
    older_limit_tokens: int
    forgotten_before: int = 0
    anchor: int | None = None
    left_out: tuple[LeftOutMessage, ...] = ()
    left_out_unnamed: int = 0
    grounding: GroundingRecord = field(default_factory=GroundingRecord)
    recall: RecallRecord = field(default_factory=RecallRecord)
    tools_withheld: Withheld = ""
    summary: SummaryRecord | None = None
    wire: Wire = "chat"
    breakpoints: Breakpoints = ""

    @property
    def prompt_format(self) -> PromptFormat:
        """How the prompt was written for its provider."""
        return PromptFormat(self.wire, self.breakpoints)

    @property
    def may_call(self) -> bool:
        """Whether its window leaves the reply free to call tools."""
        return not self.lost_steps and not self.tools_withheld

    @property
    def lost_steps(self) -> bool:
        """Whether there was no room for tool calls that were made for the newest message itself."""
        asked_at = next((entry.position for entry in self.entries if entry.kind == "newest"), None)
        return asked_at is not None and any(out.position > asked_at for out in self.left_out)

    @property
    def parts(self) -> dict[Part, int]:
        """Return the tokens of each part, in prompt order; together they are the budget. Priming counts as system."""
        parts: dict[Part, int] = {
            "system": self.priming_tokens + self._tokens_of("system"),
            "tools": self.tool_schema_tokens,
            "notes": self._tokens_of("about_me") + self._tokens_of("notes"),
            "pins": self._tokens_of("pin"),
            "summary": self._tokens_of("summary"),
            "older": self._tokens_of("older"),
            "grounding": self.grounding.tokens,
            "recall": self.recall.tokens,
            "newest": self._tokens_of("newest") - self.grounding.tokens - self.recall.tokens,
            "tool_steps": self._tokens_of("tool_step"),
            "text_so_far": self._tokens_of("text_so_far") + self._tokens_of("continue_request"),
        }
        return {**parts, "free": self.budget_tokens - sum(parts.values())}

    @property
    def picture_tokens(self) -> int:
        """The tokens of all pictures, and of the lines in place of some; they are in the parts of their messages."""
        return sum(entry.picture_tokens for entry in self.entries)

    @property
    def message_entries(self) -> tuple[WindowEntry, ...]:
        """Return one entry for each message of the prompt: those of the system message are one."""
        of_system = [entry for entry in self.entries if entry.role == "system"]
        whole = [WindowEntry("system", "system", sum(entry.tokens for entry in of_system))] if of_system else []
        return (*whole, *self.entries[len(of_system) :])

    @property
    def most_prompt_tokens(self) -> int:
        """What the provider may count in the prompt by the ratio that the budget was divided by."""
        return self._as_calibrated(self.prompt_tokens)

    def most_prompt_tokens_once_looked_up(self, *, with_grounding: bool) -> int:
        """The same, once as much has been recalled as there is room for, and looked up in documents or on the web.

        Older messages give way to what is looked up.
        """
        full = self.prompt_tokens - self.recall.tokens + self.recall.limit_tokens
        if with_grounding:
            full += self.grounding.limit_tokens - self.grounding.tokens
        return self._as_calibrated(min(full, self.budget_tokens))

    def _as_calibrated(self, tokens: int) -> int:
        return int((tokens * Decimal(self.calibration)).to_integral_value(ROUND_CEILING))

    def _tokens_of(self, kind: EntryKind) -> int:
        return sum(entry.tokens for entry in self.entries if entry.kind == kind)

    def to_json(self) -> dict[str, Any]:
        """Return what is stored. `asdict` of the whole would copy all entries value by value, which took longest."""
        return {
            **{column.name: getattr(self, column.name) for column in fields(self)},
            "entries": tuple(entry.to_json() for entry in self.entries),
            "left_out": tuple(asdict(message) for message in self.left_out),
            "grounding": self.grounding.to_json(),
            "recall": self.recall.to_json(),
            "summary": asdict(self.summary) if self.summary else None,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> WindowRecord:
        """Return the record that `to_json` made, also after a round trip through the database."""
        return cls(
            **{
                **stored,
                "entries": tuple(map(WindowEntry.from_json, stored["entries"])),
                "left_out": tuple(LeftOutMessage(**message) for message in stored["left_out"]),
                "grounding": GroundingRecord.from_json(stored["grounding"]),
                "recall": RecallRecord.from_json(stored["recall"]),
                "summary": SummaryRecord(**stored["summary"]) if stored["summary"] else None,
            }
        )


def record_entries(
    *,
    system: SystemTokens,
    pins: Sequence[HistoryMessage],
    summary: SummaryRecord | None,
    older: Sequence[HistoryMessage],
    newest: HistoryMessage,
    looked_up_tokens: int,
    steps: Sequence[SentStep],
    text_so_far: SentTextSoFar | None,
    overhead_tokens: int,
) -> tuple[WindowEntry, ...]:
    """Return the entries of the prompt, in its order; a text that is not in the system message has 0 tokens.

    *looked_up_tokens* are those of what is sent with the newest message.
    """
    kinds: tuple[EntryKind, ...] = ("system", "about_me", "notes")
    new = tuple.__new__

    def entries(kind: EntryKind, messages: Iterable[HistoryMessage], more_tokens: int = 0) -> list[WindowEntry]:
        more_tokens += overhead_tokens
        return [
            new(
                WindowEntry,
                (
                    kind,
                    sent.role,
                    more_tokens + content_tokens + picture_tokens,
                    id_,
                    position,
                    None,
                    picture_tokens,
                    pictures_sent,
                    _scaled_to(sent.pictures) if sent.pictures else (),
                    0,
                    None,
                ),
            )
            for position, sent, content_tokens, id_, _, _, picture_tokens, pictures_sent in messages
        ]

    of_steps = entries("tool_step", [step.message for step in steps]) if steps else []
    return (
        *[WindowEntry(kind, "system", tokens) for kind, tokens in zip(kinds, system, strict=True) if tokens],
        *(entries("pin", pins) if pins else ()),
        *([WindowEntry("summary", "user", summary.tokens)] if summary and summary.tokens else ()),
        *entries("older", older),
        *entries("newest", [newest], looked_up_tokens),
        *[entry._replace(truncated_to=step.truncated_to) for entry, step in zip(of_steps, steps, strict=True)],
        *(_text_entries(text_so_far) if text_so_far else ()),
    )


def _scaled_to(pictures: Sequence[PromptPicture]) -> tuple[tuple[int, int], ...]:
    """Return the size of each of a message's pictures, if one is scaled down."""
    if not any(picture.scaled_from for picture in pictures):
        return ()
    return tuple((picture.width, picture.height) for picture in pictures)


def _text_entries(text: SentTextSoFar) -> Iterator[WindowEntry]:
    """Yield the entries of what a reply says so far, and of the request to go on behind it."""
    reply, tokens = text.message, text.tokens - text.request_tokens
    sent = WindowEntry("text_so_far", "assistant", tokens, reply.id, reply.position)
    yield sent._replace(sent_from=text.start, sent_to=text.end)
    yield WindowEntry("continue_request", "user", text.request_tokens)


def record_left_out_steps(
    steps: Sequence[HistoryMessage], sent: Sequence[SentStep], overhead_tokens: int
) -> Iterator[LeftOutMessage]:
    """Yield the steps of this turn that were not sent, newest first: those before the first that was."""
    for step in reversed(steps[: len(steps) - len(sent)]):
        yield LeftOutMessage(step.id, step.position, overhead_tokens + step.content_tokens, "does_not_fit")


def record_grounding(
    candidates: Sequence[PromptPassage], packed: PackedGrounding, *, look_up: LookUp | None = None
) -> GroundingRecord:
    """Return which of the *candidates*, best first, were included, and how they were looked up."""
    if not candidates:
        return GroundingRecord(tokens=packed.tokens, limit_tokens=packed.limit_tokens, look_up=look_up)
    included = len(packed.included)
    passages = [
        GroundingPassage(
            passage.number or place, passage.score, packed.last_truncated_to if place == included else None
        )
        for place, passage in enumerate(candidates, start=1)
    ]
    return GroundingRecord(
        tokens=packed.tokens,
        limit_tokens=packed.limit_tokens,
        included=tuple(passages[:included]),
        left_out=tuple(passages[included:]),
        look_up=look_up,
    )


def record_recall(
    packed: PackedRecall, count_text: CountText, *, is_looked_up: bool = False, error: str = ""
) -> RecallRecord:
    """Return what was recalled, each passage with the tokens of its text; heads and days are in the total."""
    if not packed.included and not packed.left_out:
        return RecallRecord(packed.tokens, packed.limit_tokens, is_looked_up=is_looked_up, error=error)

    def entry(passage: RecalledPassage, tokens: int) -> RecallEntry:
        return RecallEntry(
            message=passage.message,
            position=passage.position,
            start=passage.start,
            end=passage.end,
            is_cut=not passage.is_whole,
            at=passage.at.isoformat(),
            tokens=tokens,
            score=passage.score,
            why=tuple(passage.why),
            conversation=passage.conversation,
        )

    named = packed.left_out[:MOST_LEFT_OUT]
    return RecallRecord(
        tokens=packed.tokens,
        limit_tokens=packed.limit_tokens,
        included=tuple(entry(passage, count_text(passage.text)) for passage in packed.included),
        left_out=tuple(entry(passage, passage.tokens) for passage in named),
        left_out_unnamed=len(packed.left_out) - len(named),
        is_looked_up=is_looked_up,
        error=error,
    )
