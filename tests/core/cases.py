"""Random conversations to choose windows for.

One draw of Hypothesis makes a whole case: its bytes are read one by one, each as a choice among a few. That is some
fifty times quicker than a draw for each message, and shrinks as well: fewer and smaller bytes are a smaller case.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from typing import Any

from hypothesis import strategies as st

from conversations.core.errors import MessageTooLong, PromptError
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.pictures import PicturesSent, PromptPicture, with_picture_lines
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.window.budget import ChatFormat, CountText, LanguageModel, content_tokens
from conversations.core.window.compute_window import Turn, Window, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.picture_tokens import FixedTokens, ModelPictures, PatchTokens, message_picture_tokens
from conversations.core.window.policies import (
    LastMessages,
    SlidingWindow,
    SlidingWithSummary,
    WholeConversation,
    WindowPolicy,
)
from conversations.core.window.summary import WindowSummary

from . import languages
from .languages import WITHOUT_OVERHEAD, by_character
from .site_policies import EveryOther

BEGAN = dt.datetime(2026, 11, 2, tzinfo=dt.UTC)
MOST_UNITS = 24
BYTES = 280
MARKER = "«"
WORDS = "so it is. la li, lo lu! A? "
KINDS = ("plain",) * 10 + ("large", "tool_turn", "tool_turn", "lost_result", "lost_call", "excluded", "failed", "empty")
UNSENDABLE = {"lost_result": "incomplete_tool_turn", "lost_call": "incomplete_tool_turn"}
UNSENDABLE |= {"excluded": "excluded", "failed": "failed", "empty": "empty"}

# A picture of 100 pixels square has 100 tokens, one of 20 four, and in low detail each has three.
PICTURES = ModelPictures(PatchTokens(10, most_patches=150), FixedTokens(3), "high")
SIDES = (20, 20, 30, 60, 100, 400)

POLICIES = (
    SlidingWindow,
    SlidingWindow,
    SlidingWithSummary,
    SlidingWithSummary,
    LastMessages,
    WholeConversation,
    EveryOther,
)


@dataclass(frozen=True)
class StoredUnit:
    """A unit with what the case knows of it: its *flaw*, and how many of its messages are *pinned*."""

    messages: tuple[HistoryMessage, ...]
    flaw: str | None = None
    pinned: int = 0

    @property
    def position(self) -> int:
        return self.messages[0].position

    @property
    def is_pin(self) -> bool:
        return self.flaw is None and self.pinned == len(self.messages)

    def tokens(self, chat_format: ChatFormat) -> int:
        return sum(message.tokens(chat_format) for message in self.messages)


@dataclass(frozen=True)
class Case:
    """A conversation and what limits its window; *units* are oldest first."""

    units: tuple[StoredUnit, ...]
    newest: HistoryMessage
    language_model: LanguageModel
    policy: WindowPolicy
    count_text: CountText = by_character
    system_prompt: str = ""
    tool_schema_tokens: int = 0
    passages: tuple[PromptPassage, ...] = ()
    steps: tuple[HistoryMessage, ...] = ()
    recalled: tuple[RecalledPassage, ...] | None = None
    anchor: int | None = None
    calibration: Decimal = Decimal(1)
    summary: WindowSummary | None = None
    about_me: str = ""
    notes: str = ""
    newest_with_less_detail: HistoryMessage | None = None
    forgotten_before: int = 0

    @property
    def chat_format(self) -> ChatFormat:
        return self.language_model.chat_format

    @cached_property
    def budget_tokens(self) -> int:
        reserve_tokens = self.policy.reply_reserve_tokens or self.language_model.reply_reserve_tokens
        limit_tokens = self.language_model.context_window_tokens - reserve_tokens
        return math.floor(min(limit_tokens, self.policy.cap_tokens or limit_tokens) / self.calibration)

    @cached_property
    def pins(self) -> list[HistoryMessage]:
        return [message for unit in self.units if unit.is_pin for message in unit.messages]

    @cached_property
    def sendable_units(self) -> list[StoredUnit]:
        """The units that can be older messages, newest first."""
        can_be = [unit for unit in reversed(self.units) if unit.flaw is None and not unit.is_pin]
        return [unit for unit in can_be if unit not in self.oversized_units]

    @cached_property
    def oversized_units(self) -> list[StoredUnit]:
        """The tool turns that are more than their part: newest first, a quarter is for each run of them."""
        oversized, limit_tokens, taken_tokens = [], self.lasting_tokens // 4, 0
        for unit in reversed(self.units):
            if not unit.messages[0].message.tool_calls:
                taken_tokens = 0
            elif unit.flaw is None and not unit.is_pin:
                tokens = unit.tokens(self.chat_format)
                oversized += [unit] if taken_tokens + tokens > limit_tokens else []
                taken_tokens += 0 if taken_tokens + tokens > limit_tokens else tokens
        return [] if self.policy.refuses_to_drop else oversized

    @cached_property
    def lasting_tokens(self) -> int:
        """What is left for older messages by all that is the same in every request."""
        text = self.turn.system_texts.render()
        system_tokens = self.chat_format.overhead_tokens + self.count_text(text) if text else 0
        pins_tokens = sum(pin.tokens(self.chat_format) for pin in self.pins)
        fixed_tokens = self.chat_format.priming_tokens + system_tokens + self.tool_schema_tokens + pins_tokens
        return self.budget_tokens - fixed_tokens

    def unused_summary_tokens(self, window: Window) -> int:
        """Return what was kept free for a summary that then stood for nothing, because all was in view."""
        if self.summary is None or window.record.summary is None or window.record.summary.left_out != "all_in_view":
            return 0
        return self.chat_format.overhead_tokens + self.summary.content_tokens

    @cached_property
    def stored(self) -> dict[int, HistoryMessage]:
        return {message.position: message for unit in self.units for message in unit.messages}

    @cached_property
    def turn(self) -> Turn:
        less = self.newest_with_less_detail
        return Turn(
            self.newest,
            self.system_prompt,
            self.passages,
            tuple(message for unit in self.units for message in unit.messages[: unit.pinned]),
            self.steps,
            self.tool_schema_tokens,
            recalled=self.recalled,
            summary=self.summary,
            forgotten_before=self.forgotten_before,
            with_smaller_pictures=(lambda room_tokens: less) if less else None,
            about_me=self.about_me,
            notes=self.notes,
        )

    def newest_first(self) -> Iterator[HistoryMessage]:
        for unit in reversed(self.units):
            yield from reversed(unit.messages)

    def window(self, older: Iterator[HistoryMessage] | None = None) -> Window:
        return compute_window(
            self.turn,
            self.newest_first() if older is None else older,
            language_model=self.language_model,
            policy=self.policy,
            count_text=self.count_text,
            anchor=self.anchor,
            calibration=self.calibration,
        )

    def with_newest(self, content: str) -> Case:
        return replace(self, newest=self.message(self.newest.position, content), newest_with_less_detail=None)

    def with_newest_as_sent(self) -> Case:
        """Return the case with the newest message in the detail in which it is sent, or refused."""
        less = self.newest_with_less_detail
        if less is None:
            return self
        whole = replace(self, newest_with_less_detail=None)
        try:
            whole.window()
        except MessageTooLong:
            return replace(whole, newest=less)
        except PromptError:
            pass
        return whole

    def with_pictures(self, message: HistoryMessage, pictures: tuple[PromptPicture, ...]) -> HistoryMessage:
        """Return *message* with *pictures*, counted."""
        shown = message.message._replace(pictures=pictures)
        tokens = message_picture_tokens(shown, PICTURES)
        return message._replace(message=shown, picture_tokens=tokens, pictures_sent=pictures[0].detail or "auto")

    def with_picture_lines(self, message: HistoryMessage, sent: PicturesSent) -> HistoryMessage:
        """Return *message* with a line in place of a picture, counted."""
        content = with_picture_lines(message.message.content, ["a.png"], sent)
        lines = message.message._replace(content=content)
        tokens = content_tokens(lines, count_text=self.count_text, chat_format=self.chat_format)
        picture_tokens = tokens - message.content_tokens
        return message._replace(message=lines, picture_tokens=picture_tokens, pictures_sent=sent)

    def message(self, position: int, content: str, **fields: Any) -> HistoryMessage:
        return self.stored_by(languages.message, position, content, **fields)

    def stored_by(self, make: Any, *args: Any, **fields: Any) -> HistoryMessage:
        """Return what *make*, of `languages`, makes, counted in the case's own language."""
        return make(*args, count_text=self.count_text, chat_format=self.chat_format, **fields)


class Choices:
    """Reads choices off a string of bytes; past its end every choice is the first."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def below(self, limit: int) -> int:
        return next(self._bytes, 0) % limit

    def one_of(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]


def text(marker: str, length: int) -> str:
    """Return *length* characters of words after *marker*, by which the text is found again."""
    return f"{MARKER}{marker}»" + (WORDS * (length // len(WORDS) + 1))[:length]


def cases(count_text: CountText = by_character) -> st.SearchStrategy[Case]:
    return st.binary(min_size=BYTES, max_size=BYTES).map(lambda data: make_case(Choices(data), count_text))


def make_case(choices: Choices, count_text: CountText = by_character) -> Case:
    case = Case(
        units=(),
        newest=languages.message(0),
        language_model=_language_model(choices),
        policy=_policy(choices),
        count_text=count_text,
        system_prompt=choices.one_of(("", "", text("system", choices.below(60)))),
        tool_schema_tokens=choices.one_of((0, 0, 0, choices.below(60))),
        passages=tuple(_passage(choices, number) for number in range(choices.one_of((0, 1, 2, 5)))),
        calibration=choices.one_of((Decimal(1), Decimal(1), Decimal("1.07"), Decimal("1.5"))),
    )
    case = replace(case, summary=choices.one_of((None, _summary(case, choices), _summary(case, choices))))
    newest_length = 1 + choices.one_of((0, choices.below(40), choices.below(40), choices.below(256)))
    return _with_history(case, choices, newest_length)


def _language_model(choices: Choices) -> LanguageModel:
    reply_reserve_tokens = 1 + choices.below(20)
    context_window_tokens = reply_reserve_tokens + 1 + 3 * choices.below(256) + choices.below(8)
    return languages.language_model(
        context_window_tokens,
        reply_reserve_tokens=reply_reserve_tokens,
        chat_format=choices.one_of((WITHOUT_OVERHEAD, ChatFormat())),
    )


def _policy(choices: Choices) -> WindowPolicy:
    return choices.one_of(POLICIES)(
        low_water_share=choices.one_of((1, 0.7, 0.7, 0.5)),
        reply_reserve_tokens=choices.one_of((None, None, None, 1 + choices.below(40))),
        last_messages=1 + choices.below(12),
        cap_tokens=choices.one_of((None, None, None, 1 + choices.below(256))),
        message_cap_tokens=choices.one_of((None, None, None, 1 + choices.below(60))),
        grounding_share=choices.one_of((0.5, 0.0, 0.1, 0.25, 0.9, 1.0)),
        skip_oversized=choices.one_of((False, True)),
        recall_share=choices.one_of((0, 0, 0.25, 0.25, 0.75, 1)),
        summary_cap_tokens=choices.one_of((1_000, 1_000, 200, 0)),
    )


def _summary(case: Case, choices: Choices) -> WindowSummary:
    summary = WindowSummary(
        id=77, version=3, text=text("summary", choices.below(120)), content_tokens=0, covers_before=choices.below(30)
    )
    counted = content_tokens(summary.message, count_text=case.count_text, chat_format=case.chat_format)
    return summary._replace(content_tokens=counted)


def _passage(choices: Choices, number: int) -> PromptPassage:
    content = text(f"passage {number}", choices.below(120)).rstrip()
    return PromptPassage(content, source=choices.one_of(("", "a.txt")), score=0.5)


def _with_history(case: Case, choices: Choices, newest_length: int) -> Case:
    units: list[StoredUnit] = []
    position = 0
    for _ in range(choices.below(MOST_UNITS)):
        for unit in _units(case, choices, position):
            units.append(unit)
            position += len(unit.messages)
    newest = case.message(position, text("newest", newest_length)[-newest_length:], role="user")
    newest = _with_pictures(case, choices, newest)
    steps = tuple(_steps(case, choices, position + 1))
    anchor = choices.one_of((None, choices.below(position + 4), choices.below(position + 4)))
    recalled = choices.one_of((None, tuple(_recalled(case, choices, units)), tuple(_recalled(case, choices, units))))
    about_me, notes = (choices.one_of(("", "", "", text(kind, choices.below(60)))) for kind in ("about me", "notes"))
    case = replace(case, about_me=about_me, notes=notes, newest_with_less_detail=_with_less_detail(case, newest))
    return replace(case, units=tuple(units), newest=newest, steps=steps, anchor=anchor, recalled=recalled)


def _with_pictures(case: Case, choices: Choices, message: HistoryMessage) -> HistoryMessage:
    """Return *message*, some with pictures and some with a line in place of one."""
    kind = choices.one_of(("none",) * 9 + ("pictures", "pictures", "not_shown", "shown_earlier"))
    if kind == "none":
        return message
    if kind != "pictures":
        return case.with_picture_lines(message, kind)
    detail = choices.one_of(("high", "high", "low", ""))
    sides = [(choices.one_of(SIDES), choices.one_of(SIDES)) for _ in range(1 + choices.below(3))]
    pictures = tuple(PromptPicture(f"{number:064x}", "image/png", *size, detail) for number, size in enumerate(sides))
    return case.with_pictures(message, pictures)


def _with_less_detail(case: Case, newest: HistoryMessage) -> HistoryMessage | None:
    if newest.pictures_sent != "high":
        return None
    return case.with_pictures(newest, tuple(each._replace(detail="low") for each in newest.message.pictures))


def _recalled(case: Case, choices: Choices, units: Sequence[StoredUnit]) -> Iterator[RecalledPassage]:
    """Yield pieces of older messages, some of them again or of what is in the window, best first."""
    said = [message for unit in units if unit.flaw is None for message in unit.messages if message.message.content]
    said = [message for message in said if message.message.role in ("user", "assistant")]
    for rank in range(choices.below(12) if said else 0):
        message = choices.one_of(said)
        content = message.message.content
        start = choices.one_of((0, 0, choices.below(len(content))))
        end = choices.one_of((len(content), start + 1 + choices.below(len(content) - start)))
        yield RecalledPassage(
            message=message.id or 0,
            position=message.position,
            role=message.message.role,
            name=None,
            text=content[start:end],
            start=start,
            end=end,
            is_whole=(start, end) == (0, len(content)),
            tokens=case.count_text(content[start:end]),
            session=message.position // 4,
            at=BEGAN + dt.timedelta(hours=7 * message.position),
            score=1 / (1 + rank),
            why=("words",),
        )


def _steps(case: Case, choices: Choices, position: int) -> Iterator[HistoryMessage]:
    """Yield the tool calls of the turn, each with its results, of which some are huge."""
    for _ in range(choices.one_of((0, 0, 0, 1, 2, 3))):
        ids = [f"{position}{letter}" for letter in "ab"[: 1 + choices.below(2)]]
        arguments = text("call", choices.one_of((0, choices.below(9), choices.below(9), choices.below(120))))
        yield case.stored_by(languages.tool_call, position, ids=ids, arguments=arguments)
        for number, call_id in enumerate(ids, start=1):
            content = text("result", choices.one_of((0, choices.below(20), choices.below(250))))
            content = choices.one_of((content, content, "", content * 20))
            yield case.stored_by(languages.tool_result, position + number, content, call_id=call_id)
        position += 1 + len(ids)


def _units(case: Case, choices: Choices, position: int) -> list[StoredUnit]:
    kind, length = choices.one_of(KINDS), choices.below(30)
    messages = tuple(_messages(case, choices, kind, position, length))
    pinned = choices.one_of((0,) * 12 + (1, len(messages)))
    unit = StoredUnit(messages, UNSENDABLE.get(kind), pinned)
    if kind != "lost_result":
        return [unit]
    # Right after a tool turn, or pinned after one, the lost result would be part of it.
    before = StoredUnit((case.message(position, text(str(position), 3)),))
    return [before, StoredUnit(tuple(_messages(case, choices, kind, position + 1, length)), UNSENDABLE[kind])]


def _messages(case: Case, choices: Choices, kind: str, position: int, length: int) -> Iterator[HistoryMessage]:
    content = text(str(position), length)
    call = partial(case.stored_by, languages.tool_call, position, arguments=content)
    if kind == "tool_turn":
        ids = [f"{position}{letter}" for letter in "ab"[: 1 + length % 2]]
        yield call(ids=ids)
        for number, call_id in enumerate(ids, start=1):
            yield case.stored_by(languages.tool_result, position + number, content, call_id=call_id)
    elif kind == "lost_call":
        yield call(ids=(f"lost {position}",))
    elif kind == "lost_result":
        yield case.stored_by(languages.tool_result, position, content, call_id=f"lost {position}")
    elif kind == "empty":
        yield case.message(position, "", role="assistant")
    else:
        large = text(str(position), 5 * length) if kind == "large" else content
        message = case.message(position, large, excluded=kind == "excluded")
        if message.message.role == "user":
            message = _with_pictures(case, choices, message)
        yield message._replace(failed=kind == "failed")


def with_policy(case, policy, **values):
    return replace(case, policy=policy(**{**asdict(case.policy), **values}))
