"""Everybody who might ask. Alice owns what is asked for, whatever has become of her account; the others do not."""

from __future__ import annotations

from enum import Enum

from .routes import Door


class Who(Enum):
    """Who asks: the *owner* of the objects in several states of her account, or another user."""

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
    """What the visitor is told. `REFUSED` is what the page says of bad fields, or of too much."""

    SHOWN = "shown"
    SIGN_IN = "sign in first"
    GATE = "the gate"
    NOT_FOUND = "not found"
    FORBIDDEN = "forbidden"
    REFUSED = "refused"
    WRONG_METHOD = "wrong method"
    BROKEN = "broken"


LET_THROUGH = frozenset({Answer.SHOWN, Answer.REFUSED})
OF_AN_ADMIN = LET_THROUGH | {Answer.NOT_FOUND, Answer.FORBIDDEN}  # read-only pages are forbidden to admins too


def expected(door: Door | None, who: Who, *, theirs: bool) -> frozenset[Answer]:
    """Return what may be answered to *who* at *door*. *theirs*: all that is asked for is Alice's and exists.

    A wrong method is told to everybody alike and tells nothing.
    """
    return _expected(door, who, theirs=theirs) | {Answer.WRONG_METHOD}


def _expected(door: Door | None, who: Who, *, theirs: bool) -> frozenset[Answer]:
    if door is Door.PUBLIC:
        return frozenset(Answer) - {Answer.BROKEN}
    if door is Door.KEY or not who.is_signed_in:
        return frozenset({Answer.SIGN_IN})
    if door is Door.ACCOUNT:
        return LET_THROUGH | {Answer.NOT_FOUND, Answer.FORBIDDEN}
    if door is Door.PART_OF_ACCOUNT:
        return LET_THROUGH if who.is_the_owner and theirs else frozenset({Answer.NOT_FOUND})
    if door in (Door.STAFF, Door.REVIEW, Door.ADMIN):
        return _expected_of_admin(door, who)
    if not who.is_let_in:
        return frozenset({Answer.GATE})
    if door is Door.PERSON or (who is Who.OWNER and theirs):
        return LET_THROUGH
    return frozenset({Answer.NOT_FOUND})


def _expected_of_admin(door: Door, who: Who) -> frozenset[Answer]:
    if who is Who.ADMIN:
        return OF_AN_ADMIN
    if who is Who.GATED_REVIEWER:
        return frozenset({Answer.GATE})
    if not who.is_staff:
        return frozenset({Answer.SIGN_IN, Answer.FORBIDDEN, Answer.GATE})
    if door is Door.STAFF:
        return OF_AN_ADMIN
    if door is Door.REVIEW:
        return frozenset({Answer.SHOWN, Answer.FORBIDDEN})  # forbidden to write, which is to ask by POST
    return frozenset({Answer.FORBIDDEN})
