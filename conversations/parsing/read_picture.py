"""Read a picture in a child process. This parent starts it, feeds it, checks what it answers, and ends it.

A request waits for it, unlike for a document: it takes a second or less, and only so many are read at once.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, BufferedWriter
from subprocess import PIPE, Popen
from typing import cast

from conversations.core.errors import (
    PictureDamaged,
    PictureEmpty,
    PictureError,
    PictureKindUnknown,
    PictureTooCostly,
    PictureTooManyPixels,
)
from conversations.parsing.parse import DEATHS_BY_COST, ENVIRONMENT, MOST_LOGGED_BYTES, WAIT_FACTOR
from conversations.parsing.parsed import ParsingLimits
from conversations.parsing.picture_limits import MOST_MEGAPIXELS, MOST_PIXELS_OF_A_SIDE, MOST_STORED_BYTES

logger = logging.getLogger(__name__)

# -P: nothing is imported from where it runs; -B: nothing is written
COMMAND = (sys.executable, "-P", "-B", "-m", "conversations.parsing.picture_process")
LIMITS = ParsingLimits(seconds=10, memory_megabytes=1_024)
READ_AT_ONCE = 2  # by one process of the site: each may take its limit of memory
LONGEST_LINE_BYTES = 500
MEDIA_TYPES = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n\x1a\n"}  # and how their files begin
ERRORS: dict[str, type[PictureError]] = {
    error.code: error for error in (PictureDamaged, PictureEmpty, PictureKindUnknown, PictureTooCostly)
}

_reading = threading.BoundedSemaphore(READ_AT_ONCE)


@dataclass(frozen=True, slots=True)
class ReadPicture:
    """A picture fit to be stored: without metadata, at most 2,048 pixels wide and high, and of a bounded size."""

    media_type: str
    width: int
    height: int
    content: bytes


def read_picture(content: bytes, *, limits: ParsingLimits = LIMITS) -> ReadPicture:
    """Return the picture of a file, encoded again. Raises a `PictureError`."""
    if not content:
        raise PictureEmpty
    return _read(content, limits)


def scale_picture(content: bytes, *, width: int, height: int, limits: ParsingLimits = LIMITS) -> ReadPicture:
    """Return a picture that is stored, scaled down to that size and encoded again. Raises a `PictureError`."""
    scaled = _read(content, limits, size=(width, height))
    if (scaled.width, scaled.height) != (width, height):
        raise PictureDamaged
    return scaled


def _read(content: bytes, limits: ParsingLimits, size: tuple[int, int] | None = None) -> ReadPicture:
    with _reading, _child(limits) as child:
        answer, encoded = _ask(child, limits, content, size)
        if not answer:
            raise _death_of(child)
    return _checked(answer, encoded)


@contextmanager
def _child(limits: ParsingLimits) -> Iterator[Popen[bytes]]:
    """Start the child, and end it with all that it has started: here, or when it has had its time."""
    child = Popen(  # noqa: S603  # our own program
        COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENVIRONMENT, cwd="/", start_new_session=True
    )
    timer = threading.Timer(WAIT_FACTOR * limits.seconds, _kill, [child])
    timer.start()
    try:
        yield child
    finally:
        timer.cancel()
        _kill(child)
        _log(cast(BufferedReader, child.stderr))
        for pipe in (child.stdin, child.stdout, child.stderr):
            with contextlib.suppress(OSError):
                cast(BufferedReader, pipe).close()
        child.wait()


def _kill(child: Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _ask(
    child: Popen[bytes], limits: ParsingLimits, content: bytes, size: tuple[int, int] | None
) -> tuple[bytes, bytes]:
    """Return the line that the child answers, empty if it has died, and the bytes after it, no more than are stored."""
    stdin, stdout = cast(tuple[BufferedWriter, BufferedReader], (child.stdin, child.stdout))
    order = {"seconds": limits.seconds, "memory_megabytes": limits.memory_megabytes, "size": size}
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(json.dumps(order).encode("ascii") + b"\n")
        stdin.write(content)
        stdin.close()
    return stdout.readline(LONGEST_LINE_BYTES), stdout.read(MOST_STORED_BYTES + 1)


def _death_of(child: Popen[bytes]) -> PictureError:
    code = child.wait()
    logger.warning("reading a picture ended with %s", code)
    return PictureTooCostly() if code in DEATHS_BY_COST else PictureDamaged()


def _log(stderr: BufferedReader) -> None:
    """Log how the child failed: it names classes of errors, never the content of the picture."""
    if message := stderr.read(MOST_LOGGED_BYTES):
        logger.info("reading a picture: %s", message.decode("ascii", "backslashreplace").strip())


def _checked(line: bytes, encoded: bytes) -> ReadPicture:
    """Return the child's answer. A decoder that a file has taken over can get no further than a picture of its own."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PictureDamaged from error
    match answer:
        case {"error": PictureTooManyPixels.code, "width": int(width), "height": int(height)}:
            raise PictureTooManyPixels(width=width, height=height, megapixels=MOST_MEGAPIXELS)
        case {"error": str(code)} if code in ERRORS:
            raise ERRORS[code]
        case {"media_type": str(media_type), "width": int(width), "height": int(height)} if (
            encoded.startswith(MEDIA_TYPES.get(media_type, b"\0"))
            and len(encoded) <= MOST_STORED_BYTES
            and _is_side(width)
            and _is_side(height)
        ):
            return ReadPicture(media_type, width, height, encoded)
    raise PictureDamaged


def _is_side(pixels: int) -> bool:
    return not isinstance(pixels, bool) and 0 < pixels <= MOST_PIXELS_OF_A_SIDE
