"""People, and what they may do."""

from .first_admin_link import FirstAdminLink
from .gate import Gate, GateEntry, GateMode, GatePassword
from .invitation import Invitation
from .limits import Limits, SiteBudget
from .user import GateRule, Role, User, UserManager

__all__ = [
    "FirstAdminLink",
    "Gate",
    "GateEntry",
    "GateMode",
    "GatePassword",
    "GateRule",
    "Invitation",
    "Limits",
    "Role",
    "SiteBudget",
    "User",
    "UserManager",
]
