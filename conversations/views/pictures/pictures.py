"""Views that add a picture to a conversation, show it and describe it."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from conversations.access import find_conversation, find_picture
from conversations.core.errors import FileMissing, PictureNotFound
from conversations.models import Picture
from conversations.selectors.conversations.pictures import read_picture_bytes
from conversations.services.pictures.pictures import add_picture, describe_picture, largest_picture_bytes
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.inert_policy import INERT

# The same id never shows anything else; only who may see it keeps it, and no cache between.
KEPT_FOR_A_YEAR = "private, max-age=31536000, immutable"


@require_POST
@answers_errors()
def add(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Keep one picture; it begins a conversation that is not stored yet. It is sent with no message by that."""
    file = request.FILES.get("files")
    if file is None:
        raise FileMissing
    added = keep_picture(request, public_id, file)
    if wants_json(request):
        described = {"picture": added.pk, "width": added.width, "height": added.height, "alt_text": added.alt_text}
        return JsonResponse(described, status=201)
    return redirect("conversations:conversation", public_id)


def keep_picture(request: HtmxRequest, public_id: uuid.UUID, file: UploadedFile[Any]) -> Picture:
    """Keep one file of a form as a picture. Nothing is read that is larger than a picture may be."""
    return add_picture(
        user=request.user,
        public_id=public_id,
        name=file.name or "",
        content=file.read(largest_picture_bytes() + 1),
        **parameters.beginning(request),
    )


@require_GET
@answers_errors()
def picture(request: HtmxRequest, public_id: uuid.UUID, picture_id: int) -> HttpResponse:
    """The picture itself, to whom the conversation belongs."""
    response = picture_response(find_picture(find_conversation(request.user, public_id), picture_id))
    response["Cache-Control"] = KEPT_FOR_A_YEAR
    return response


def picture_response(found: Picture) -> HttpResponse:
    """Return the bytes of a picture, as what it is and nothing else. Raises `PictureNotFound` if it is gone."""
    content = read_picture_bytes(found.pk)
    if content is None:
        raise PictureNotFound
    response = HttpResponse(content, content_type=found.media_type)
    name = f"picture-{found.pk}.{found.media_type.removeprefix('image/')}"
    response["Content-Disposition"] = f'inline; filename="{name}"'
    response["Content-Security-Policy"] = INERT
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


@require_POST
@answers_errors()
def describe(request: HtmxRequest, public_id: uuid.UUID, picture_id: int) -> HttpResponse:
    """Store what is to be seen on it, in the user's words."""
    found = find_picture(find_conversation(request.user, public_id), picture_id)
    alt_text = describe_picture(found, alt_text=request.POST.get("alt_text", ""))
    if wants_json(request):
        return JsonResponse({"alt_text": alt_text})
    return redirect("conversations:conversation", public_id)
