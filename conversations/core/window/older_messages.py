"""The older messages of a window: what a policy is offered, and what it may answer.

Of the tool calls of an older reply, with their results, the newest are offered that together take at most a quarter of
what older messages could have if the question were empty. The others are left out, and the window goes on behind them:
else one large result would end the view of a whole conversation. The quarter is one of what stays from request to
request (budget, system prompt, tools, pins), so what was left out stays left out, and prompts go on beginning alike. A
policy that refuses to drop is offered everything.

Of a request without tools no calls are part at all: many providers refuse them there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from operator import attrgetter

from conversations.core.errors import ConversationTooLong, PolicyFailed

from .budget import whole_share
from .history import HistoryMessage, LeftOutReason, Unit, group_into_units
from .policies import Room, WindowPolicy
from .window_record import LeftOutMessage

MOST_NAMED = 200  # thousands may be excluded, and the record is kept with every request
MOST_TOKENS_OVER = 100_000  # to say that a conversation is far too long, not all of it has to be read
TOOL_TURN_SHARE = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class ChosenOlder:
    """The *messages*, oldest first, their *tokens* with the chat format's overhead, and why others were left out.

    *limit_tokens* is the room that there was for them; of it *unusable_tokens* are left because the next message before
    them is larger. Of very many that were left out the newest are named and the
    others counted; *unsendable* are the positions of those that can't be sent whatever the room.
    """

    messages: tuple[HistoryMessage, ...]
    tokens: int
    limit_tokens: int
    unusable_tokens: int
    left_out: tuple[LeftOutMessage, ...]
    left_out_unnamed: int
    unsendable: frozenset[int]


def choose_older(
    newest_first: Iterable[HistoryMessage],
    *,
    policy: WindowPolicy,
    room: Room,
    pinned: Collection[int],
    overhead_tokens: int,
    lasting_tokens: int,
    has_tools: bool = True,
) -> ChosenOlder:
    """Let *policy* choose, and hold it to the room. The messages at the *pinned* positions are in the window already.

    *lasting_tokens* is what older messages could have in any request of the conversation, if its question were empty;
    *has_tools* tells whether tools go with the request. Raises `ConversationTooLong` or `PolicyFailed`.
    """
    limit_tokens = None if policy.refuses_to_drop else whole_share(lasting_tokens, TOOL_TURN_SHARE)
    tool_turn = _ToolTurn(limit_tokens, has_tools=has_tools)
    offered = _Offered(pinned, tool_turn)
    # noted before a policy has the room in its hands
    room_tokens, beside_recall_tokens = room.tokens, room.tokens_beside_recall
    units = offered.sendable(group_into_units(newest_first, overhead_tokens=overhead_tokens))
    chosen, tokens = _ask(policy, units, room, offered)
    if tokens > room_tokens:
        raise ConversationTooLong(tokens_over=tokens - room_tokens)
    own_tokens = room_tokens if tokens > beside_recall_tokens else beside_recall_tokens
    left_out = tuple(offered.left_out(chosen[0].position if chosen else None, own_tokens - tokens, overhead_tokens))
    return ChosenOlder(
        messages=tuple([message for unit in chosen for message in unit.messages]),
        tokens=tokens,
        limit_tokens=own_tokens,
        unusable_tokens=own_tokens - tokens if any(each.reason == "does_not_fit" for each in left_out) else 0,
        left_out=left_out[:MOST_NAMED],
        left_out_unnamed=len(left_out[MOST_NAMED:]),
        unsendable=frozenset(message.position for unit, _ in offered.flawed for message in unit.messages),
    )


@dataclass(slots=True)
class _ToolTurn:
    """The tool calls of the one older reply that is being read, which may take *limit_tokens* together, if limited."""

    limit_tokens: int | None
    has_tools: bool
    taken_tokens: int = 0

    def refuses(self, unit: Unit) -> LeftOutReason | None:
        """Return why *unit*, which calls tools, can't be in; if it can, take its room."""
        if not self.has_tools:
            return "without_tools"
        if self.limit_tokens is not None and self.taken_tokens + unit.tokens > self.limit_tokens:
            return "oversized"
        self.taken_tokens += unit.tokens
        return None


@dataclass(slots=True)
class _Offered:
    """What was read, newest first: units that can't be sent with the reason, and by position those that can.

    Of these a policy takes out what it chooses.
    """

    pinned: Collection[int]
    tool_turn: _ToolTurn
    units: dict[int, Unit] = field(default_factory=dict)
    flawed: list[tuple[Unit, LeftOutReason]] = field(default_factory=list)
    reading_failed: Exception | None = None

    def sendable(self, newest_first: Iterator[Unit]) -> Iterator[Unit]:
        """Yield what can be sent. Nothing but reading raises in here: what a policy raises, it raises outside."""
        pinned, tool_turn, units = self.pinned, self.tool_turn, self.units
        try:
            for unit in newest_first:
                calls_tools = bool(unit.messages[0].message.tool_calls)
                if not calls_tools:  # what stands here divides the calls of two replies
                    tool_turn.taken_tokens = 0
                if pinned and all(message.position in pinned for message in unit.messages):
                    continue
                if flaw := unit.flaw or (tool_turn.refuses(unit) if calls_tools else None):
                    self.flawed.append((unit, flaw))
                    continue
                units[unit.position] = unit
                yield unit
        except Exception as error:
            self.reading_failed = error
            raise

    def left_out(self, first_position: int | None, free_tokens: int, overhead_tokens: int) -> Iterator[LeftOutMessage]:
        """Yield what was not sent, newest first; of what lies before the window's beginning only the first unit."""
        found = list(self.flawed)
        for position, unit in self.units.items():
            is_before = first_position is None or position < first_position
            found.append((unit, _reason(unit, free_tokens, is_before=is_before)))
            if is_before:
                break
        for unit, reason in sorted(found, key=lambda pair: pair[0].position, reverse=True):
            for message in reversed(unit.messages):
                tokens = overhead_tokens + message.sent_tokens
                yield LeftOutMessage(message.id, message.position, tokens, reason)


def _reason(unit: Unit, free_tokens: int, *, is_before: bool) -> LeftOutReason:
    if unit.tokens <= free_tokens:
        return "policy"
    return "does_not_fit" if is_before else "oversized"


def _ask(policy: WindowPolicy, units: Iterator[Unit], room: Room, offered: _Offered) -> tuple[list[Unit], int]:
    """Return what *policy* chooses, oldest first, and its tokens.

    What goes wrong in it is its own failure, but not what reading does. Only a policy that refuses to drop may choose
    more than the room; of that no more is read than tells it.
    """
    chosen: list[Unit] = []
    not_chosen = offered.units
    room_tokens, tokens = room.tokens, 0  # noted before the policy has the room in its hands
    try:
        for unit in policy.choose(units, room):
            if not_chosen.pop(unit.position, None) is not unit:
                raise PolicyFailed(detail="the policy chose what it was not offered, or the same twice")
            chosen.append(unit)
            tokens += unit.tokens
            if tokens <= room_tokens:
                continue
            if not policy.refuses_to_drop:
                chose = f"{policy.to_json()['name']} chose {tokens} tokens"
                raise PolicyFailed(detail=f"{chose} for a room of {room_tokens}")
            if tokens - room_tokens > MOST_TOKENS_OVER:
                break
    except PolicyFailed:
        if not offered.reading_failed:
            raise
    except Exception as error:
        if not offered.reading_failed:
            raise PolicyFailed(detail=f"{type(policy).__qualname__} raised {error!r}") from error
    if offered.reading_failed:  # whatever the policy made of it
        raise offered.reading_failed
    return sorted(chosen, key=attrgetter("position")), tokens
