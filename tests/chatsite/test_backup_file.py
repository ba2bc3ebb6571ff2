"""The file of a backup: read as it was written, and refused as a whole once it was cut, changed or locked otherwise."""

from __future__ import annotations

import errno
import fcntl
import gc
import hashlib
import io
import json
import re
import tarfile
import tracemalloc
from random import Random

import pyrage
import pytest

from chatsite.backups import backup_file
from chatsite.backups.backup_file import BackupFile, BackupNotWritten, BackupUnreadable, write_backup

CONTENTS = {"tables": {"conversations_message": 3}, "secret_key": "k" * 50}
PARTS = [b"one" * 1_000, b"two", b"\x00\xff" * 500]
PASSPHRASE = "another window, another seat"


def written(folder, *, passphrase="", name="site.backup", parts=PARTS):
    target = folder / name
    write_backup(target, version="1.2.3", contents=CONTENTS, parts=iter(parts), passphrase=passphrase)
    return target


def assert_refused(path, passphrase=""):
    with pytest.raises(BackupUnreadable):
        BackupFile(path, passphrase).check()


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """One that is encrypted: to lock a key takes a second, and so does to open it."""
    return written(tmp_path_factory.mktemp("locked"), passphrase=PASSPHRASE)


@pytest.fixture(scope="module")
def opened_key(locked):
    return pyrage.passphrase.decrypt(member(locked, "key.age"), PASSPHRASE)


def test_it_is_read_as_it_was_written(tmp_path):
    file = BackupFile(written(tmp_path))
    assert_read(file, is_encrypted=False)
    assert [each.name for each in tmp_path.iterdir()] == ["site.backup"]


def test_what_stands_behind_the_end_is_not_read(tmp_path):
    """`check` reads to the end, and says nothing of what someone has put behind it."""
    path = written(tmp_path)
    with tarfile.open(path) as archive:
        members = {each.name: archive.extractfile(each).read() for each in archive}
    write_archive(path, members | {"database/000003": b"more"})
    assert_read(BackupFile(path), is_encrypted=False)


def test_an_encrypted_one_is_read_with_its_passphrase_alone(locked):
    assert b"k" * 50 not in locked.read_bytes()
    for wrong in ("", "another seat, another window"):
        assert_refused(locked, wrong)
    assert BackupFile(locked).read_head().is_encrypted
    assert_read(BackupFile(locked, PASSPHRASE), is_encrypted=True)


def assert_read(file, *, is_encrypted):
    head = file.read_head()
    assert (head.version, head.is_encrypted) == ("1.2.3", is_encrypted)
    assert file.check() == CONTENTS
    assert list(file.read_database()) == PARTS
    assert file.path.stat().st_mode & 0o077 == 0


def test_one_that_is_cut_anywhere_is_refused(tmp_path):
    whole = written(tmp_path).read_bytes()
    ends = len(whole.rstrip(b"\0"))  # the archive closes with blocks of zeros, which say nothing
    for length in (0, 1, 511, 512, 5_000, *Random(3).sample(range(ends), 40), ends - 1):
        (cut := tmp_path / "cut").write_bytes(whole[:length])
        assert_refused(cut)


@pytest.mark.parametrize("passphrase", ["", PASSPHRASE])
def test_one_with_a_changed_byte_is_refused_or_reads_the_same(tmp_path, monkeypatch, request, passphrase):
    """What pads the parts of an archive, and dates in it, mean nothing: all else is found."""
    path = request.getfixturevalue("locked") if passphrase else written(tmp_path)
    whole = path.read_bytes()
    if passphrase:
        opened = Opened(member(path, "key.age"), request.getfixturevalue("opened_key"))
        monkeypatch.setattr(pyrage, "passphrase", opened)
    refused = 0
    for place in Random(5).sample(range(len(whole)), 300):
        changed = bytearray(whole)
        changed[place] ^= 1
        (copy := tmp_path / "changed").write_bytes(changed)
        file = BackupFile(copy, passphrase)
        try:
            assert (file.check(), list(file.read_database())) == (CONTENTS, PARTS)
        except BackupUnreadable:
            refused += 1
    assert refused > 100


class Opened:
    """Opens one key by its passphrase without the second that it takes."""

    def __init__(self, sealed, key):
        self._sealed, self._key = sealed, key

    def decrypt(self, data, passphrase):
        if data != self._sealed:
            raise pyrage.DecryptError
        return self._key


def member(path, name):
    with tarfile.open(path) as archive:
        return archive.extractfile(name).read()


def test_nothing_that_is_not_encrypted_is_taken_with_a_passphrase(locked, tmp_path):
    """Else who does not know it could put a database of their own in the place of the site's."""
    plain = written(tmp_path)
    assert_refused(plain, PASSPHRASE)
    with tarfile.open(tmp_path / "mixed", "w") as mixed:
        for source, names in ((locked, [backup_file.HEAD, backup_file.KEY]), (plain, None)):
            with tarfile.open(source) as archive:
                for each in archive:
                    if (each.name in names) if names else each.name != backup_file.HEAD:
                        mixed.addfile(each, archive.extractfile(each))
    with pytest.raises(BackupUnreadable, match=r"contents\.json is not encrypted"):
        BackupFile(tmp_path / "mixed", PASSPHRASE).check()


def test_a_disk_without_links_takes_it_too(tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(backup_file.os, "link", refuse)
    assert_read(BackupFile(written(tmp_path)), is_encrypted=False)
    assert [each.name for each in tmp_path.iterdir()] == ["site.backup"]


def test_a_key_that_takes_too_long_is_no_wrong_passphrase(locked, tmp_path):
    slow = re.sub(rb"(-> scrypt \S+ )\d\d\n", rb"\g<1>30\n", locked.read_bytes())
    (tmp_path / "slow").write_bytes(slow)
    with pytest.raises(BackupUnreadable, match="a much faster machine"):
        BackupFile(tmp_path / "slow", PASSPHRASE).check()


def test_a_key_that_takes_more_memory_than_there_is_is_not_opened(locked, tmp_path, monkeypatch):
    """Who swaps the key of a backup could otherwise have a machine run out of memory."""
    monkeypatch.setattr(backup_file, "_memory_bytes", lambda: 2**30)
    large = re.sub(rb"(-> scrypt \S+ )\d\d\n", rb"\g<1>20\n", locked.read_bytes())
    (tmp_path / "large").write_bytes(large)
    with pytest.raises(BackupUnreadable, match=r"takes 1\.0 GB of memory"):
        BackupFile(tmp_path / "large", PASSPHRASE).check()


def write_archive(path, members, **options):
    """Write a tar archive of *members*, by name, as someone may who wants to do harm."""
    with tarfile.open(path, "w", **options) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


HEAD = {"format": 1, "version": "1.0", "made_at": "2026-11-28T00:00:00+00:00", "is_encrypted": False}


@pytest.mark.parametrize(
    "head",
    [
        b"[" * 100_000,
        json.dumps(HEAD | {"made_at": "0001-01-01T00:00:00+14:00"}).encode(),
        json.dumps(HEAD | {"made_at": 5}).encode(),
        json.dumps(HEAD | {"format": 9, "version": "1.0\r\33[2Jwell"}).encode(),
    ],
    ids=["nested", "before all time", "no time", "escapes"],
)
def test_a_head_that_was_made_up_is_refused_in_plain_words(tmp_path, head):
    path = write_archive(tmp_path / "x", {backup_file.HEAD: head})
    with pytest.raises(BackupUnreadable) as caught:
        BackupFile(path).read_head()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_a_version_is_told_short_and_in_plain_letters(tmp_path):
    head = json.dumps(HEAD | {"version": "1.0\33[2J" + "0" * 1_000}).encode()
    version = BackupFile(write_archive(tmp_path / "x", {backup_file.HEAD: head})).read_head().version
    assert version.startswith("1.0?[2J0")
    assert len(version) == 80


@pytest.mark.parametrize("contents", [b"[" * 100_000, b"{}", b'{"secret_key": 1}', b'{"secret_key": "\\u001b[2J"}'])
def test_contents_without_a_secret_key_are_refused(tmp_path, contents):
    members = {backup_file.HEAD: json.dumps(HEAD).encode(), backup_file.CONTENTS: contents}
    digest = hashlib.sha256(b"".join(members.values())).hexdigest()
    members[backup_file.END] = json.dumps({"parts": 0, "sha256": digest}).encode()
    assert_refused(write_archive(tmp_path / "x", members))


def test_contents_of_many_small_things_take_little_memory(tmp_path):
    contents = b'{"a": [' + b"{}," * 2_000_000 + b"1]}"
    path = write_archive(tmp_path / "x", {backup_file.HEAD: json.dumps(HEAD).encode(), backup_file.CONTENTS: contents})
    tracemalloc.start()
    try:
        assert_refused(path)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 5 * len(contents)


def test_names_in_an_archive_are_not_repeated_as_they_are(tmp_path):
    head = json.dumps(HEAD | {"is_encrypted": True}).encode()
    path = write_archive(tmp_path / "x", {backup_file.HEAD: head, "\33[2J\n" + "x" * 3_000: b""})
    with pytest.raises(BackupUnreadable, match="is not encrypted") as caught:
        BackupFile(path, PASSPHRASE).check()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_what_is_no_plain_file_is_refused(tmp_path, kind):
    path = tmp_path / "x"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(backup_file.HEAD)
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    assert_refused(path)


def test_a_member_that_is_larger_than_its_bytes_is_refused(tmp_path):
    """A sparse file of tar: sixty megabytes of zeros in one block, any number of times."""
    path = tmp_path / "x"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo(backup_file.HEAD)
        info.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": "60000000"}
        archive.addfile(info)
    with pytest.raises(BackupUnreadable, match="is no backup of Windowseat"):
        BackupFile(path).read_head()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_member_s_own_description_is_not_read_whatever_its_size(tmp_path, kind):
    path = tmp_path / "x"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        info = tarfile.TarInfo(backup_file.HEAD)
        info.type, info.size = kind, 20_000_000
        archive.addfile(info)
    with path.open("ab") as file:
        file.truncate(30_000_000)
    tracemalloc.start()
    try:
        assert_refused(path)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 5_000_000


def test_memory_does_not_grow_with_the_number_of_members(tmp_path):
    def count_members() -> int:
        gc.collect()  # what tests before have left counts for nothing
        # By type: a lazy object of another test would be made, or fail, when it is asked for its class.
        return sum(issubclass(type(each), tarfile.TarInfo) for each in gc.get_objects())

    path = write_archive(tmp_path / "x", {f"database/{number}": b"" for number in range(500)})
    before = count_members()
    members = BackupFile(path)._members()
    for _ in range(499):
        next(members)
    assert count_members() - before < 20


@pytest.mark.parametrize("changes", [{"format": 2}, {"format": None}])
def test_one_of_a_later_form_says_so(tmp_path, changes):
    head = json.dumps({"format": 1, "version": "9.0", "made_at": "2026-11-28T00:00:00+00:00"} | changes).encode()
    path = tmp_path / "later.backup"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(backup_file.HEAD)
        info.size = len(head)
        archive.addfile(info, io.BytesIO(head))
    with pytest.raises(BackupUnreadable, match=r"later form, made by version 9\.0"):
        BackupFile(path).read_head()


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b" + b"\0" * 2_000])
def test_another_file_is_no_backup(tmp_path, content):
    (path := tmp_path / "x").write_bytes(content)
    with pytest.raises(BackupUnreadable, match="is no backup of Windowseat"):
        BackupFile(path).read_head()


def test_a_file_is_never_written_over(tmp_path):
    (there := tmp_path / "site.backup").write_text("mine")
    with pytest.raises(BackupNotWritten, match="exists already"):
        written(tmp_path)
    assert there.read_text() == "mine"


def test_what_fails_leaves_nothing(tmp_path):
    def full():
        yield b"one"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(BackupNotWritten, match="No space left on device"):
        written(tmp_path, parts=full())
    assert not list(tmp_path.iterdir())


def test_what_a_killed_backup_left_is_written_over(tmp_path):
    (tmp_path / ".site.backup.part").write_bytes(b"x" * 100_000)
    assert BackupFile(written(tmp_path)).check() == CONTENTS
    assert [each.name for each in tmp_path.iterdir()] == ["site.backup"]


def test_two_backups_into_one_file_do_not_mix(tmp_path):
    with (tmp_path / ".site.backup.part").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(BackupNotWritten, match="Another backup is being written"):
            written(tmp_path)
    assert BackupFile(written(tmp_path)).check() == CONTENTS


def test_a_link_in_place_of_the_draft_is_not_followed(tmp_path):
    kept = tmp_path / "kept.txt"
    kept.write_text("of someone else")
    (tmp_path / backup_file.DRAFT.format("site.backup")).symlink_to(kept)
    with pytest.raises(BackupNotWritten, match=r"can't be written \(Too many levels of symbolic links\)"):
        written(tmp_path)
    assert kept.read_text() == "of someone else"


def test_what_was_left_of_a_draft_becomes_private(tmp_path):
    left = tmp_path / backup_file.DRAFT.format("site.backup")
    left.write_bytes(b"left")
    left.chmod(0o666)
    assert written(tmp_path).stat().st_mode & 0o777 == 0o600
