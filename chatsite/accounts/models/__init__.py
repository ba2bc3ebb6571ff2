"""Models of accounts: users and their roles, sessions, invitations, limits and the gate."""

from .account_change import AccountChange, ChangeKind
from .attempt_count import AttemptCount
from .cache_entry import CacheEntry
from .first_admin_link import FirstAdminLink
from .gate import Gate, GateEntry, GateMode, GatePassword
from .invitation import Invitation, InvitationState
from .limits import Limits, SiteBudget
from .security_event import SecurityEvent, SecurityEventKind
from .session import Session
from .user import GateRule, Role, User, UserManager

__all__ = [
    "AccountChange",
    "AttemptCount",
    "CacheEntry",
    "ChangeKind",
    "FirstAdminLink",
    "Gate",
    "GateEntry",
    "GateMode",
    "GatePassword",
    "GateRule",
    "Invitation",
    "InvitationState",
    "Limits",
    "Role",
    "SecurityEvent",
    "SecurityEventKind",
    "Session",
    "SiteBudget",
    "User",
    "UserManager",
]
