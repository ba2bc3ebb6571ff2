"""Admission: whether a user may use the site now. Pages, sockets, running replies and the admin all ask here.

One statement loads the facts of any number of users, and `decide_admission` decides by them. A password that is revoked
or expired, by the database's clock, does not count.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from django.db import connection

from chatsite.accounts.models import GateMode, GateRule, Role, User
from chatsite.accounts.sessions.session_store import FINGERPRINT


class Admission(Enum):
    """Whether a user is admitted, or what keeps them out."""

    ADMITTED = auto()
    SIGNED_OUT = auto()  # no account, or one that is not active
    PASSWORD_REQUIRED = auto()
    WAITING = auto()  # gave the password when all seats were taken
    BLOCKED = auto()


@dataclass(frozen=True, slots=True)
class AdmissionFacts:
    """The facts that admission depends on.

    *required_version* is of the password that the user needs, None if none is in force; *entry_version* is of the
    password that they entered with, None if they never did.
    """

    is_active: bool
    role: str
    gate_rule: str
    mode: str
    required_version: uuid.UUID | None
    entry_version: uuid.UUID | None
    is_seated: bool

    @property
    def has_outdated_entry(self) -> bool:
        """Whether the user entered with a password that is not the one in force now."""
        return self.entry_version is not None and self.entry_version != self.required_version


def decide_admission(facts: AdmissionFacts) -> Admission:
    """Decide. An admin needs no password, or no one could repair the gate; but another admin can block one."""
    if not facts.is_active:
        return Admission.SIGNED_OUT
    if facts.gate_rule == GateRule.BLOCKED:
        return Admission.BLOCKED
    if facts.role == Role.ADMIN or not _needs_password(facts):
        return Admission.ADMITTED
    if facts.required_version is None or facts.entry_version != facts.required_version:
        return Admission.PASSWORD_REQUIRED
    return Admission.ADMITTED if facts.is_seated else Admission.WAITING


def _needs_password(facts: AdmissionFacts) -> bool:
    if facts.gate_rule == GateRule.SITE:
        return facts.mode != GateMode.OFF
    return facts.gate_rule == GateRule.REQUIRED


# The version of the password that a user needs: their own, in any mode; else the one for all.
REQUIRED_VERSION = "coalesce(own.version, CASE WHEN gate.mode = 'shared' THEN shared.version END)"
IN_FORCE = "{0}.revoked_at IS NULL AND ({0}.expires_at IS NULL OR {0}.expires_at > statement_timestamp())"
USERS = f"""
accounts_user AS person
LEFT JOIN accounts_gate AS gate ON true
LEFT JOIN accounts_gatepassword AS own ON own.user_id = person.id AND {IN_FORCE.format("own")}
LEFT JOIN accounts_gatepassword AS shared ON shared.user_id IS NULL AND {IN_FORCE.format("shared")}
LEFT JOIN accounts_gateentry AS entry ON entry.user_id = person.id
"""
FACTS = f"""
SELECT person.id, person.is_active, person.role, person.gate_rule, coalesce(gate.mode, 'off') AS mode,
       {REQUIRED_VERSION} AS required_version, entry.version AS entry_version, entry.seated_at IS NOT NULL AS is_seated
FROM {USERS}
"""  # noqa: S608  # nothing in it comes from outside
# In a statement about something else, the facts of its owner, whose id is in the column that stands in place of the
# braces. None without an account. By OFFSET they are looked up by id for each row, never read of all users.
FACTS_OF_OWNER_COLUMN = f"({FACTS} WHERE person.id = {{}} OFFSET 0)"
# PostgreSQL plans a statement for many each time, which takes three times as long as to run it, but that for one once.
FACTS_OF_ONE, FACTS_OF_MANY = f"{FACTS} WHERE person.id = %s", f"{FACTS} WHERE person.id = ANY(%s)"
FACTS_OF_SESSION = f"""
{FACTS} JOIN accounts_session AS session ON session.user_id = person.id
WHERE session.session_key = %s AND session.expire_date > statement_timestamp() AND {FINGERPRINT} = %s
FOR NO KEY UPDATE OF person
"""

# Users who need a password.
IS_GATED = """
person.is_active AND person.role <> 'admin'
AND (person.gate_rule = 'required' OR (person.gate_rule = 'site' AND coalesce(gate.mode, 'off') <> 'off'))
"""
WITHOUT_PASSWORD = f"""
SELECT person.* FROM {USERS} WHERE {IS_GATED} AND {REQUIRED_VERSION} IS NULL ORDER BY person.email LIMIT %s
"""  # noqa: S608


def load_admission_facts(user_ids: Collection[int], *, lock: bool = False) -> dict[int, AdmissionFacts]:
    """Return the facts of each of *user_ids* that still has an account.

    With *lock* the rows of these accounts stay locked until the transaction ends.
    """
    ids = list(user_ids)
    facts, asked = (FACTS_OF_ONE, ids[0]) if len(ids) == 1 else (FACTS_OF_MANY, ids)
    with connection.cursor() as cursor:
        cursor.execute(f"{facts} FOR NO KEY UPDATE OF person" if lock else facts, [asked])
        return {user_id: AdmissionFacts(*columns) for user_id, *columns in cursor.fetchall()}


def users_without_password(most: int) -> list[User]:
    """Return up to *most* users who need a password while none is in force for them."""
    return list(User.objects.raw(WITHOUT_PASSWORD, [most]))


def find_admissions(user_ids: Collection[int]) -> dict[int, Admission]:
    """Return the admission of each of *user_ids*; an account that is gone counts as signed out."""
    loaded = load_admission_facts(user_ids) if user_ids else {}
    return {
        user_id: decide_admission(loaded[user_id]) if user_id in loaded else Admission.SIGNED_OUT
        for user_id in user_ids
    }


def decide_admission_of_row(user_id: int | None, *columns: Any) -> Admission:
    """Decide by the columns of `FACTS_OF_OWNER_COLUMN` in one row."""
    return Admission.SIGNED_OUT if user_id is None else decide_admission(AdmissionFacts(*columns))


def find_admission(user_id: int | None) -> Admission:
    """Return the admission of one user; None is a visitor without an account."""
    return Admission.SIGNED_OUT if user_id is None else find_admissions([user_id])[user_id]


def lock_admission_of_session(session_key: str, fingerprint: bytes) -> tuple[int | None, Admission]:
    """Return user and admission of a session whose *fingerprint* is still the same; the account stays locked.

    None and `SIGNED_OUT` if it has ended or changed: ask `session_store.find_session_user` then.
    """
    with connection.cursor() as cursor:
        cursor.execute(FACTS_OF_SESSION, [session_key, fingerprint])
        row = cursor.fetchone()
    return (row[0], decide_admission(AdmissionFacts(*row[1:]))) if row else (None, Admission.SIGNED_OUT)


def lock_admission(user_id: int) -> Admission:
    """Return the admission of one user, whose account stays locked until the transaction ends."""
    facts = load_admission_facts([user_id], lock=True).get(user_id)
    return decide_admission(facts) if facts else Admission.SIGNED_OUT
