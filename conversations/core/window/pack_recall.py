"""Choose the recalled passages that fit: by falling score, whatever fits.

What the lines of the block take is counted one by one; then the block is counted as it will be sent, and made smaller
if it has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from conversations.core.prompt.grounding_text import (
    QUESTION_HEADER,
    RecalledPiece,
    find_initials,
    render_message,
    render_speakers,
    without_year,
)
from conversations.core.recall.recalled_passage import RecalledPassage

from .budget import CountText

MOST_TRIES = 12  # of passages that do not fit with their head, where their text alone might have
BEFORE_THE_QUESTION = f"\n\n{QUESTION_HEADER}\n"
Render = Callable[[Sequence[RecalledPiece]], str]


@dataclass(frozen=True, slots=True)
class PackedRecall:
    """*text* is the newest message with what is recalled, *tokens* of at most *limit_tokens* what that adds to it.

    *included* and *left_out* are best first.
    """

    text: str
    tokens: int = 0
    limit_tokens: int = 0
    included: tuple[RecalledPassage, ...] = ()
    left_out: tuple[RecalledPassage, ...] = ()


def piece_of(passage: RecalledPassage) -> RecalledPiece:
    """Return *passage* as a prompt shows it."""
    return RecalledPiece(
        position=passage.position,
        start=passage.start,
        end=passage.end,
        at=passage.at.isoformat(),
        role=passage.role,
        text=passage.text,
        is_whole=passage.is_whole,
        name=passage.name,
        conversation=passage.conversation,
    )


def pack_recall(
    bare: str, passages: Sequence[RecalledPassage], *, render: Render, limit_tokens: int, count_text: CountText
) -> PackedRecall:
    """Return *bare*, the newest message without recall, with as many of *passages* as add at most *limit_tokens*.

    *passages* are best first, none of them in the window otherwise; of those that overlap or say the same, the best is
    taken. *render* returns the message with what is recalled.
    """
    if not passages:  # the message's tokens are known: it is not counted again
        return PackedRecall(bare, limit_tokens=limit_tokens)
    different = list(_different(passages))
    pieces = [piece_of(passage) for passage in different]
    block_tokens = limit_tokens - count_text(BEFORE_THE_QUESTION)
    ranks = _choose(different, pieces, limit_tokens=block_tokens, count_text=count_text)
    bare_tokens = count_text(bare)
    while ranks:
        text = render([pieces[rank] for rank in ranks])
        if (tokens := count_text(text) - bare_tokens) <= limit_tokens:
            included, taken = tuple(different[rank] for rank in ranks), set(ranks)
            left_out = (passage for rank, passage in enumerate(different) if rank not in taken)
            return PackedRecall(text, tokens, limit_tokens, included, tuple(left_out))
        ranks = ranks[:-1]
    return PackedRecall(bare, limit_tokens=limit_tokens, left_out=tuple(different))


def _different(passages: Iterable[RecalledPassage]) -> Iterator[RecalledPassage]:
    """Yield *passages* without those that overlap with a better one, or say what one of the same speaker says.

    What is blank is none: in the block it would be a blank line, which ends it.
    """
    said: set[tuple[str, str]] = set()
    taken: dict[int, list[RecalledPassage]] = {}
    for passage in passages:
        same = taken.setdefault(passage.message, [])
        overlaps = any(passage.start < other.end and other.start < passage.end for other in same)
        if passage.text.strip() and not overlaps and (passage.role, passage.text) not in said:
            said.add((passage.role, passage.text))
            same.append(passage)
            yield passage


@dataclass(slots=True)
class _Block:
    """What a block takes, counted line by line: to count it whole for each passage that is tried takes many times that.

    *tokens* are those of all lines, each with its end. A tokenizer that joins what stands on two lines takes fewer.
    """

    count_text: CountText
    tokens: int = 0
    _pieces: dict[tuple[int, int], list[RecalledPiece]] = field(default_factory=dict)
    _headings: set[str] = field(default_factory=set)
    _initials: dict[tuple[bool, str], str] = field(default_factory=dict)
    _counted: dict[str, int] = field(default_factory=dict)

    def add_if_it_fits(self, piece: RecalledPiece, limit_tokens: int) -> bool:
        """Add *piece* unless the block would take more than *limit_tokens*; tell whether it was added."""
        if piece.speaker not in self._initials:
            return self._add_speaker(piece, limit_tokens)
        same_message = self._pieces.get(piece.message, [])
        more = sorted([*same_message, piece], key=lambda each: each.start)
        tokens = self.tokens + self._message_tokens(more) - self._message_tokens(same_message)
        if piece.heading not in self._headings:
            tokens += self._heading_tokens({*self._headings, piece.heading}) - self._heading_tokens(self._headings)
        if tokens > limit_tokens:
            return False
        self.tokens = tokens
        self._pieces[piece.message] = more
        self._headings.add(piece.heading)
        return True

    def _add_speaker(self, piece: RecalledPiece, limit_tokens: int) -> bool:
        """Add a piece whose speaker is not in the block yet: others may get another initial."""
        pieces = [each for same_message in (*self._pieces.values(), [piece]) for each in same_message]
        block = _Block(self.count_text, _initials=find_initials(pieces))
        block.tokens = block._tokens_of(render_speakers(block._initials))
        if not all(block.add_if_it_fits(each, limit_tokens) for each in pieces):
            return False
        self.tokens, self._initials, self._counted = block.tokens, block._initials, block._counted
        self._pieces, self._headings = block._pieces, block._headings
        return True

    def _message_tokens(self, pieces: Sequence[RecalledPiece]) -> int:
        return self._tokens_of(render_message(pieces, self._initials[pieces[0].speaker])) if pieces else 0

    def _heading_tokens(self, headings: Iterable[str]) -> int:
        in_order = sorted(headings)
        return sum(
            self._tokens_of(without_year(heading, after=before))
            for before, heading in zip(("", *in_order), in_order, strict=False)
        )

    def _tokens_of(self, lines: str) -> int:
        if lines not in self._counted:
            self._counted[lines] = self.count_text(f"{lines}\n")
        return self._counted[lines]


def _choose(
    passages: Sequence[RecalledPassage], pieces: Sequence[RecalledPiece], *, limit_tokens: int, count_text: CountText
) -> list[int]:
    """Return the ranks, from 0, of the passages that together take *limit_tokens* in a block, best first.

    Whatever fits is taken. The second time those are tried above which the day has come to stand since. Of those that
    only their head makes too large a few are tried.
    """
    block, limit_tokens = _Block(count_text), limit_tokens + count_text("\n")  # the last line has no end
    taken: set[int] = set()
    left = MOST_TRIES
    for _ in range(2):
        for rank, passage in enumerate(passages):
            if not left:
                break
            if rank in taken or passage.tokens >= limit_tokens - block.tokens:
                continue
            if block.add_if_it_fits(pieces[rank], limit_tokens):
                taken.add(rank)
            else:
                left -= 1
    return sorted(taken)
