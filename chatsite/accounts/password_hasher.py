"""Password hasher: Argon2id with a bound on the memory that many at once take."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from django.contrib.auth.hashers import Argon2PasswordHasher

AT_ONCE = 2  # in one process; the others wait their turn, some hundredths of a second each
# Threads of their own: glibc keeps the memory of a hash for each thread that made one, up to eight for each processor.
_threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="hasher")


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Argon2id with the least that OWASP recommends: 19 MiB, two iterations, one thread.

    Django's own takes 100 MiB a hash, and forty users who sign in at once 4 GiB. Hashes made with that stay valid, and
    are replaced when their user signs in.
    https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#argon2id (2026-11-21)
    """

    memory_cost = 19 * 1024  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        return _threads.submit(super().encode, password, salt).result()

    def verify(self, password: str, encoded: str) -> bool:
        return _threads.submit(super().verify, password, encoded).result()
