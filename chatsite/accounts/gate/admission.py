"""May this person come in? The one answer, for pages, sockets, running replies and the admin.

What is known of a person comes from one statement, for any number of people; `decide` makes the answer of it. A
password that is revoked or over, by the database's clock, is no password here.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto

from django.db import connection

from chatsite.accounts.models import GateMode, GateRule, Role, User


class Admission(Enum):
    """Whether somebody may come in, or what keeps them out."""

    ADMITTED = auto()
    SIGNED_OUT = auto()  # no account, or one that is not active
    PASSWORD_REQUIRED = auto()
    WAITING = auto()  # gave the password when all seats were taken
    BLOCKED = auto()


@dataclass(frozen=True, slots=True)
class Standing:
    """What the answer depends on. Versions are None where there is no password in force, or no entry."""

    is_active: bool
    role: str
    gate_rule: str
    mode: str
    opening_version: uuid.UUID | None
    entry_version: uuid.UUID | None
    is_seated: bool

    @property
    def came_by_another(self) -> bool:
        """Whether the person gave a password once, and it is not the one that opens the gate now."""
        return self.entry_version is not None and self.entry_version != self.opening_version


def decide(standing: Standing) -> Admission:
    """An admin is let in without a password, or nobody could mend the gate; but another admin can block one."""
    if not standing.is_active:
        return Admission.SIGNED_OUT
    if standing.gate_rule == GateRule.BLOCKED:
        return Admission.BLOCKED
    if standing.role == Role.ADMIN or not _needs_password(standing):
        return Admission.ADMITTED
    if standing.opening_version is None or standing.entry_version != standing.opening_version:
        return Admission.PASSWORD_REQUIRED
    return Admission.ADMITTED if standing.is_seated else Admission.WAITING


def _needs_password(standing: Standing) -> bool:
    if standing.gate_rule == GateRule.SITE:
        return standing.mode != GateMode.OFF
    return standing.gate_rule == GateRule.REQUIRED


# The version of the password that opens the gate for a person: their own, in any mode; else the one for all.
OPENING_VERSION = "coalesce(own.version, CASE WHEN gate.mode = 'shared' THEN shared.version END)"
IN_FORCE = "{0}.revoked_at IS NULL AND ({0}.expires_at IS NULL OR {0}.expires_at > statement_timestamp())"
PEOPLE = f"""
accounts_user AS person
LEFT JOIN accounts_gate AS gate ON true
LEFT JOIN accounts_gatepassword AS own ON own.user_id = person.id AND {IN_FORCE.format("own")}
LEFT JOIN accounts_gatepassword AS shared ON shared.user_id IS NULL AND {IN_FORCE.format("shared")}
LEFT JOIN accounts_gateentry AS entry ON entry.user_id = person.id
"""
STANDINGS = f"""
SELECT person.id, person.is_active, person.role, person.gate_rule, coalesce(gate.mode, 'off'), {OPENING_VERSION},
       entry.version, entry.seated_at IS NOT NULL
FROM {PEOPLE} WHERE person.id = ANY(%s)
"""  # noqa: S608  # nothing in it comes from outside

# Those who are asked for a password.
IS_ASKED = """
person.is_active AND person.role <> 'admin'
AND (person.gate_rule = 'required' OR (person.gate_rule = 'site' AND coalesce(gate.mode, 'off') <> 'off'))
"""
WITHOUT_PASSWORD = f"""
SELECT person.* FROM {PEOPLE} WHERE {IS_ASKED} AND {OPENING_VERSION} IS NULL ORDER BY person.email LIMIT %s
"""  # noqa: S608


def standings_of(user_ids: Collection[int], *, lock: bool = False) -> dict[int, Standing]:
    """Return what is known of each of *user_ids* that has an account.

    With *lock* nobody else locks or changes these accounts until the transaction ends.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"{STANDINGS} FOR NO KEY UPDATE OF person" if lock else STANDINGS, [list(user_ids)])
        return {user_id: Standing(*facts) for user_id, *facts in cursor.fetchall()}


def people_without_password(most: int) -> list[User]:
    """Return up to *most* of those who need a password and can have none: none that opens for them is in force."""
    return list(User.objects.raw(WITHOUT_PASSWORD, [most]))


def admissions_of(user_ids: Collection[int]) -> dict[int, Admission]:
    """Return the answer for each of *user_ids*. Nobody has the id of an account that is gone."""
    standings = standings_of(user_ids) if user_ids else {}
    return {
        user_id: decide(standings[user_id]) if user_id in standings else Admission.SIGNED_OUT for user_id in user_ids
    }


def admission_of(user_id: int | None) -> Admission:
    """Return the answer for one person; None is a visitor without an account."""
    return Admission.SIGNED_OUT if user_id is None else admissions_of([user_id])[user_id]


def lock_admission(user_id: int) -> Admission:
    """Return the answer for one person, whose account stays locked until the transaction ends."""
    standing = standings_of([user_id], lock=True).get(user_id)
    return decide(standing) if standing else Admission.SIGNED_OUT
