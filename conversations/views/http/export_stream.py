"""Responses with an export that is sent while it is made, one of a user at a time."""

from __future__ import annotations

from asyncio import CancelledError, sleep
from collections.abc import AsyncIterator, Iterator
from time import monotonic

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy

from chatsite.accounts.models import User
from conversations.core.errors import AccessError
from conversations.live.database_threads import in_thread
from conversations.models import ExportLease
from conversations.services.portability.export_lease import give_lease_back, prolong_lease, take_lease

PAUSE_PER_PIECE = 1.5
LONGEST_PAUSE_SECONDS = 0.25
EXPORT_UNDER_WAY = gettext_lazy("Your export is already being made. Wait until it has downloaded, then try again.")


def export_response(user: User, name: str, pieces: Iterator[bytes], *, content_type: str) -> HttpResponseBase | None:
    """Return a file of *pieces*, to be saved as *name*; None while another export of *user* is being made."""
    if (lease := take_lease(user)) is None:
        return None
    response = StreamingHttpResponse(_ExportStream(pieces, lease), content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["X-Content-Type-Options"] = "nosniff"
    return response


class _ExportStream:
    """The file, piece by piece as it is made. A user who goes away in the middle may start over at once.

    Where the pieces end with an `AccessError`, the connection ends without the end of the file.

    After each piece the process is left to others for 1.5 times as long as that took, at most 0.25 s. A thread that
    computes without a pause makes all that they ask for wait again and again, and a user may export as often as they
    like.
    """

    def __init__(self, pieces: Iterator[bytes], lease: ExportLease) -> None:
        self._pieces = pieces
        self._lease = lease

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while (piece := await self._make_piece()) is not None:
                yield piece
        except AccessError as error:
            raise CancelledError from error  # for Django nothing has failed then
        finally:
            await in_thread(self.close)()

    async def _make_piece(self) -> bytes | None:
        began = monotonic()
        piece = await in_thread(self._next)()
        await sleep(min(PAUSE_PER_PIECE * (monotonic() - began), LONGEST_PAUSE_SECONDS))
        return piece

    def _next(self) -> bytes | None:
        prolong_lease(self._lease)
        return next(self._pieces, None)

    def close(self) -> None:
        """Called by Django at the end of a response, also of one that was never read."""
        give_lease_back(self._lease)
