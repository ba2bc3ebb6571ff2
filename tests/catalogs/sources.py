"""Where the sentences of each catalog stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.support.source import PROJECT

LANGUAGE = "zh_Hans"
SUFFIXES = (".py", ".html", ".txt")
OURS = ("chatsite", "conversations", "templates")
ADMINS = {"admin", "models", "unfold", "unfold.py", "management"}
# What a library says on our pages. Of allauth only what no page of ours replaces: forms, refusals, mails, notices.
UNFOLD = ("unfold",)
ALLAUTH = (
    *("allauth/account", "allauth/mfa", "allauth/core", "allauth/usersessions"),
    *(f"allauth/socialaccount/{name}.py" for name in ("adapter", "forms", "models")),
    *(
        f"allauth/templates/{app}/{kind}"
        for app in ("account", "mfa", "socialaccount")
        for kind in ("email", "messages")
    ),
)

# Its own catalog lags behind: what a new password is refused with was in English there.
DJANGO = ("django/contrib/auth/password_validation.py",)


@dataclass(frozen=True, slots=True)
class Place:
    """One catalog: the folder that it is in, and which of our files and of the libraries' it is for."""

    name: str
    folder: str
    is_admins: bool
    libraries: tuple[str, ...]

    @property
    def po(self) -> Path:
        return PROJECT / self.folder / LANGUAGE / "LC_MESSAGES" / "django.po"

    def files(self) -> Iterator[Path]:
        """Yield our own files that it is for."""
        for folder in OURS:
            paths = (path for path in (PROJECT / folder).rglob("*") if path.suffix in SUFFIXES)
            yield from sorted(path for path in paths if _is_admins(path) is self.is_admins)

    def library_files(self) -> Iterator[Path]:
        packages = Path(str(find_spec("allauth").origin)).parent.parent  # type: ignore[union-attr]
        for name in self.libraries:
            found = [packages / name] if name.endswith(".py") else (packages / name).rglob("*")
            yield from sorted(path for path in found if path.suffix in SUFFIXES)


def _is_admins(path: Path) -> bool:
    return not ADMINS.isdisjoint(path.relative_to(PROJECT).parts)


SITE = Place("site", "conversations/locale", is_admins=False, libraries=ALLAUTH + DJANGO)
ADMIN = Place("admin", "chatsite/locale", is_admins=True, libraries=UNFOLD)
PLACES = (SITE, ADMIN)
