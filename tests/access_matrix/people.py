"""Everybody who might ask. Alice owns what is asked for, whatever has become of her account; the others do not."""

from __future__ import annotations

from enum import Enum

from .routes import Door


class Who(Enum):
    """Who asks: the *owner* of the objects in several states of her account, or somebody else."""

    ANONYMOUS = "anonymous"
    OWNER = "owner"
    OTHER = "somebody else"
    GATED = "owner outside the gate"
    BLOCKED = "owner who is blocked"
    DEACTIVATED = "owner who is deactivated"
    REVIEWER = "reviewer"
    GATED_REVIEWER = "reviewer outside the gate"
    ADMIN = "admin"

    @property
    def is_the_owner(self) -> bool:
        return self in (Who.OWNER, Who.GATED, Who.BLOCKED, Who.DEACTIVATED)

    @property
    def is_signed_in(self) -> bool:
        return self not in (Who.ANONYMOUS, Who.DEACTIVATED)

    @property
    def is_let_in(self) -> bool:
        return self in (Who.OWNER, Who.OTHER, Who.REVIEWER, Who.ADMIN)

    @property
    def is_staff(self) -> bool:
        return self in (Who.REVIEWER, Who.GATED_REVIEWER, Who.ADMIN)


class Answer(Enum):
    """What somebody who asks is told. `REFUSED` is what the page says of bad fields or a wrong method."""

    SHOWN = "shown"
    SIGN_IN = "sign in first"
    GATE = "the gate"
    NOT_FOUND = "not found"
    FORBIDDEN = "forbidden"
    REFUSED = "refused"
    BROKEN = "broken"


LET_THROUGH = frozenset({Answer.SHOWN, Answer.REFUSED})


def expected(door: Door | None, who: Who, *, theirs: bool) -> frozenset[Answer]:
    """Return what may be answered to *who* at *door*. *theirs*: all that is asked for is Alice's and exists.

    A wrong method is told to everybody alike and tells nothing, so `REFUSED` is always among the answers.
    """
    return _expected(door, who, theirs=theirs) | {Answer.REFUSED}


def _expected(door: Door | None, who: Who, *, theirs: bool) -> frozenset[Answer]:
    if door is Door.PUBLIC:
        return frozenset(Answer) - {Answer.BROKEN}
    if not who.is_signed_in:
        return frozenset({Answer.SIGN_IN})
    if door is Door.ACCOUNT:
        return frozenset({Answer.SHOWN, Answer.NOT_FOUND, Answer.FORBIDDEN})
    if door is Door.PART_OF_ACCOUNT:
        return frozenset({Answer.SHOWN if who.is_the_owner and theirs else Answer.NOT_FOUND})
    if door in (Door.STAFF, Door.REVIEW, Door.ADMIN):
        return _expected_of_admin(door, who)
    if not who.is_let_in:
        return frozenset({Answer.GATE})
    if door is Door.PERSON or (who is Who.OWNER and theirs):
        return frozenset({Answer.SHOWN})
    return frozenset({Answer.NOT_FOUND})


def _expected_of_admin(door: Door | None, who: Who) -> frozenset[Answer]:
    if who is Who.ADMIN:
        return frozenset({Answer.SHOWN, Answer.NOT_FOUND, Answer.FORBIDDEN})
    if who is Who.GATED_REVIEWER:
        return frozenset({Answer.GATE})
    if not who.is_staff:
        return frozenset({Answer.SIGN_IN, Answer.FORBIDDEN, Answer.GATE})
    if door is Door.STAFF:
        return frozenset({Answer.SHOWN, Answer.NOT_FOUND, Answer.FORBIDDEN})
    if door is Door.REVIEW:
        return frozenset({Answer.SHOWN, Answer.FORBIDDEN})  # forbidden to write, which is to ask by POST
    return frozenset({Answer.FORBIDDEN})
