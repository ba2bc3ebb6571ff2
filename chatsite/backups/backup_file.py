"""The file of a backup: a tar archive whose parts are encrypted if there is a passphrase.

    windowseat-backup.json    format, version and moment; readable without the passphrase
    key.age                   with a passphrase: the key of the parts, encrypted as the program `age` does
    contents.json             what the database held, and the secret key of the site
    database/000000 and on    the database as pg_dump writes it (custom format), up to 16 MB in each
    end.json                  how many parts of the database there are, and the SHA-256 of all that is before it

With a passphrase each of the last three kinds is a file of `age` by itself, and its name ends in `.age`: so all of it
can be read with `tar`, `age` and `pg_restore` alone. A file that was cut or changed is refused before anything of it is
used.
"""

from __future__ import annotations

import datetime as dt
import errno
import fcntl
import hashlib
import io
import json
import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyrage  # loaded when a backup is encrypted or read: each web process imports this module

FORMAT = 1
HEAD, KEY, CONTENTS, DATABASE, END = "windowseat-backup.json", "key.age", "contents.json", "database/", "end.json"
PART_BYTES = 16 * 2**20
DRAFT = ".{}.part"  # the name of a file while it is written
WITHOUT_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}  # as exFAT on a USB disk says
LARGEST_MEMBER_BYTES = 64 * 2**20  # of a file that may come from elsewhere
LARGEST_JSON_BYTES = 4 * 2**20  # of a site it is below 0.1 MB, and read it may take thirty times as much memory
LARGEST_DESCRIPTION_BYTES = 64 * 1024  # of what tar writes before a member: a long name, or other fields
# The first lines of `key.age`; scrypt takes 1 KB of memory to the power of two that stands there.
# https://github.com/C2SP/C2SP/blob/main/age.md#scrypt-recipient-stanza (2026-11-28)
KEY_HEAD = re.compile(rb"age-encryption\.org/v1\n-> scrypt \S+ (\d{1,2})\n")
MEMORY_FOR_KEY = 0.5  # of the machine's
LONGEST_NAME = 80  # of a member or a version, in what people are told


class BackupUnreadable(Exception):
    """The file can't be used: it is damaged, of a later format, or its passphrase is another one. Says which."""


class BackupNotWritten(Exception):
    """No file was made, and why."""


@dataclass(frozen=True, slots=True)
class BackupHead:
    """What a backup says of itself without its passphrase. *version* is that of the product.

    *site* tells those of one site from those of others; *is_scheduled* are those that no person asked for, and they
    have a *number*, by which a newer one is known whatever the clock said; before 1.1.0 they had none, which is 0.
    """

    version: str
    made_at: dt.datetime
    is_encrypted: bool
    site: str = ""
    is_scheduled: bool = False
    number: int = 0


def write_backup(
    target: Path,
    *,
    version: str,
    contents: Mapping[str, Any],
    parts: Iterable[bytes],
    passphrase: str = "",
    site: str = "",
    is_scheduled: bool = False,
    number: int = 0,
) -> int:
    """Write the backup *target*, whole or not at all, and return its size in bytes.

    *parts* are the database, piece by piece. It is written beside its place and linked there at the end: a file of
    that name is always a whole one. What a killed process left is written over. Raises `BackupNotWritten`.
    """
    if target.exists():
        raise BackupNotWritten(f"{target} exists already. Choose another name: nothing is written over.")
    head = BackupHead(version, dt.datetime.now(dt.UTC), bool(passphrase), site, is_scheduled, number)
    try:
        with _draft_of(target) as (draft, path):
            _write_members(draft, head, contents=contents, parts=parts, passphrase=passphrase)
            draft.flush()
            os.fsync(draft.fileno())
            _put_in_place(path, target)
            return draft.tell()
    except FileExistsError:
        raise BackupNotWritten(f"{target} was made by another backup meanwhile.") from None
    except OSError as error:
        raise BackupNotWritten(f"{target} can't be written ({error.strerror or error}); nothing was kept.") from error


@contextmanager
def _draft_of(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Yield the file that is written first and its path, locked for this process; it is gone afterwards."""
    path = target.with_name(DRAFT.format(target.name))
    with _lock_draft(path, target) as draft:
        try:
            draft.truncate(0)
            yield draft, path
        finally:
            path.unlink(missing_ok=True)


def _lock_draft(path: Path, target: Path) -> IO[bytes]:
    """Open *path*, the draft of *target*, made if it is missing, and lock it.

    Raises `BackupNotWritten` if another process has it.
    """
    while True:
        # A link that someone else has put there is not followed, and what is there already becomes private.
        draft = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+b")
        if not try_lock(draft):
            draft.close()
            raise BackupNotWritten(f"Another backup is being written to {target} now.")
        if os.fstat(draft.fileno()).st_nlink:
            with suppress(PermissionError):  # of a file system that has no modes
                os.fchmod(draft.fileno(), 0o600)
            return draft
        draft.close()  # deleted just now, as one that a killed process left


def try_lock(draft: IO[bytes]) -> bool:
    """Lock *draft* until it is closed, and tell whether that could be done."""
    try:
        fcntl.flock(draft, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _put_in_place(path: Path, target: Path) -> None:
    """Give the written file its name. Raises `FileExistsError` where there is one of that name."""
    try:
        os.link(path, target)
    except OSError as error:
        if error.errno not in WITHOUT_LINKS:
            raise
        if target.exists():
            raise FileExistsError from None
        path.rename(target)
    with suppress(OSError):  # some file systems sync no folders
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_members(
    draft: IO[bytes], head: BackupHead, *, contents: Mapping[str, Any], parts: Iterable[bytes], passphrase: str
) -> None:
    import pyrage

    key = pyrage.x25519.Identity.generate() if passphrase else None
    digest = hashlib.sha256()
    with tarfile.open(fileobj=draft, mode="w|", format=tarfile.PAX_FORMAT) as archive:

        def add(name: str, data: bytes, *, is_secret: bool = True) -> None:
            digest.update(data)
            if key is not None and is_secret:
                name, data = f"{name}.age", pyrage.encrypt(data, [key.to_public()])
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(data), int(head.made_at.timestamp()), 0o600
            archive.addfile(member, io.BytesIO(data))

        add(HEAD, _as_json({"format": FORMAT, **asdict(head), "made_at": head.made_at.isoformat()}), is_secret=False)
        if key is not None:
            add(KEY, pyrage.passphrase.encrypt(str(key).encode(), passphrase), is_secret=False)
        add(CONTENTS, _as_json(contents))
        number = 0
        for number, part in enumerate(parts, 1):
            add(f"{DATABASE}{number - 1:06}", part)
        add(END, _as_json({"parts": number, "sha256": digest.hexdigest()}))


def _as_json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"


class _Member(tarfile.TarInfo):
    """A member of an archive; what describes another one is refused if it is large, for it is read into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:  # which its source names as what to override
        if self.type not in tarfile.REGULAR_TYPES and self.size > LARGEST_DESCRIPTION_BYTES:
            raise tarfile.ReadError("too much is said of a part")
        return super()._proc_member(archive)  # type: ignore[misc]


class BackupFile:
    """A backup to be read, once from its beginning to its end for each thing that is asked of it."""

    def __init__(self, path: Path, passphrase: str = "") -> None:
        self.path, self._passphrase = path, passphrase
        self._unlocked: tuple[bytes, pyrage.x25519.Identity] | None = None

    def read_head(self) -> BackupHead:
        """Return what it says of itself without its passphrase. Raises `BackupUnreadable`."""
        for name, data in self._members():
            if name == HEAD:
                return _head_from(data)
            break
        raise BackupUnreadable(f"{self.path} is no backup of Windowseat.")

    def check(self) -> dict[str, Any]:
        """Read all of it and return its contents, as they were given when it was written. Raises `BackupUnreadable`."""
        digest, contents, parts = hashlib.sha256(), None, 0
        for name, data in self._opened():
            if name == END:
                if _object_from(data) != {"parts": parts, "sha256": digest.hexdigest()} or contents is None:
                    break
                _require_secret_key(contents)
                return contents
            digest.update(data)
            contents = _object_from(data) if name == CONTENTS else contents
            parts += name.startswith(DATABASE)
        raise BackupUnreadable(f"{self.path} is damaged: it was cut off, or changed. Nothing of it was used.")

    def read_database(self) -> Iterator[bytes]:
        """Yield the parts of the database. `check` it before: what is wrong is found only at the end."""
        for name, data in self._opened():
            if name == END:
                return
            if name.startswith(DATABASE):
                yield data

    def _opened(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and data of each member, decrypted.

        Who does not know the passphrase can't make a file that is read with it: where there is one, nothing that is
        not encrypted is taken.
        """
        import pyrage

        is_encrypted = self.read_head().is_encrypted
        if is_encrypted and not self._passphrase:
            raise BackupUnreadable(
                f"{self.path} is encrypted: give its passphrase, with --passphrase-file or as BACKUP_PASSPHRASE."
            )
        if self._passphrase and not is_encrypted:
            raise BackupUnreadable(
                f"{self.path} is not encrypted, and there is a passphrase. Has it been put in the place of yours? If "
                "you made it without one, set none (BACKUP_PASSPHRASE=)."
            )
        key = None
        for name, data in self._members():
            if name == KEY:
                key = self._unlock(data)
            if name in (HEAD, KEY) or not is_encrypted:
                yield name, data
            elif not name.endswith(".age"):
                raise BackupUnreadable(f"{self.path} is damaged: {_plain(name)} is not encrypted.")
            elif key is None:
                raise BackupUnreadable(f"{self.path} is damaged: its key is missing.")
            else:
                try:
                    yield name.removesuffix(".age"), pyrage.decrypt(data, [key])
                except pyrage.DecryptError:
                    raise BackupUnreadable(
                        f"{self.path} is damaged: {_plain(name)} was changed. Nothing of it was used."
                    ) from None

    def _unlock(self, data: bytes) -> pyrage.x25519.Identity:
        """Return the key of the parts. It takes a second, so that guessing does, too: once for each key is enough."""
        import pyrage

        if self._unlocked and self._unlocked[0] == data:
            return self._unlocked[1]
        self._require_memory(data)
        try:
            key = pyrage.x25519.Identity.from_str(pyrage.passphrase.decrypt(data, self._passphrase).decode())
        except (pyrage.DecryptError, pyrage.IdentityError, UnicodeDecodeError) as error:
            if "Excessive work" in str(error):
                raise BackupUnreadable(
                    f"The key of {self.path} was made by a much faster machine. Try again when this one has nothing "
                    "else to do, or on another one."
                ) from None
            raise BackupUnreadable(f"The passphrase of {self.path} is another one, or its key was damaged.") from None
        self._unlocked = data, key
        return key

    def _require_memory(self, key: bytes) -> None:
        """Raise `BackupUnreadable` for a key whose opening takes more memory than the machine can do without."""
        head = KEY_HEAD.match(key)
        needed_bytes = 1024 * 2 ** int(head[1]) if head else 0
        if needed_bytes > MEMORY_FOR_KEY * _memory_bytes():
            raise BackupUnreadable(
                f"To open the key of {self.path} takes {needed_bytes / 2**30:,.1f} GB of memory. It was made by a much "
                "faster machine, or changed to do harm. Try it on a machine with more memory."
            )

    def _members(self) -> Iterator[tuple[str, bytes]]:
        try:
            with tarfile.open(self.path, mode="r|", tarinfo=_Member) as archive:
                while member := archive.next():
                    file = archive.extractfile(member) if member.isreg() and not member.issparse() else None
                    if file is None or member.size > LARGEST_MEMBER_BYTES:
                        raise BackupUnreadable(f"{self.path} is no backup of Windowseat, or damaged.")
                    yield member.name, file.read()
                    archive.members.clear()  # type: ignore[attr-defined]  # it keeps what it knows of each
        except (tarfile.TarError, EOFError, ValueError) as error:
            raise BackupUnreadable(f"{self.path} is no backup of Windowseat, or damaged ({error}).") from error
        except OSError as error:
            raise BackupUnreadable(f"{self.path} can't be read: {error.strerror or error}.") from error


def _head_from(data: bytes) -> BackupHead:
    read = _object_from(data)
    if read.get("format") != FORMAT:
        made_by = _plain(str(read.get("version")))
        raise BackupUnreadable(f"It is a backup of a later form, made by version {made_by}. Use that or a newer one.")
    try:
        return BackupHead(
            version=_plain(str(read["version"])),
            made_at=dt.datetime.fromisoformat(read["made_at"]).astimezone(dt.UTC),
            is_encrypted=read["is_encrypted"] is True,
            site=str(read.get("site")),
            is_scheduled=read.get("is_scheduled") is True,
            number=int(read.get("number") or 0),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise BackupUnreadable("It is damaged: what it says of itself is not whole.") from None


def _object_from(data: bytes) -> dict[str, Any]:
    try:
        read = json.loads(data) if len(data) <= LARGEST_JSON_BYTES else None
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise BackupUnreadable("It is damaged: a part that should be JSON is none.")
    return read


def _require_secret_key(contents: Mapping[str, Any]) -> None:
    key = contents.get("secret_key")
    if not isinstance(key, str) or not key.isascii() or not key.isprintable():
        raise BackupUnreadable("It is damaged: it has no secret key.")


def _plain(name: str) -> str:
    """Return a name that stands in the file as a terminal may show it: short, and without what would steer that."""
    return "".join(each if each.isprintable() else "?" for each in name[:LONGEST_NAME])


def _memory_bytes() -> int:
    """Return how much memory the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
