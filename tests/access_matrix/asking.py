"""Ask as a cell says, and judge the answer."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from tests.parsing.pictures import drawing, encoded

from .cells import PathCell
from .people import LET_THROUGH, Answer, Who, expected
from .routes import door_of
from .world import CANARY, World, count_writes, fingerprint, unknown_ids

TO_SIGN_IN = ("/accounts/login/", "/admin/login/")
TO_THE_GATE = "/gate/"
STATUSES = {
    **{401: Answer.SIGN_IN, 404: Answer.NOT_FOUND, 403: Answer.FORBIDDEN, 405: Answer.WRONG_METHOD},
    **dict.fromkeys((400, 409, 413, 429), Answer.REFUSED),
}
# The first message, or document, begins a conversation, so an id that no one has is as good as any.
BEGINS_WITH_ANY_ID = {"conversations:post", "conversations:add_conversation_documents", "conversations:add_picture"}
PICTURE = encoded(drawing(2, 2))  # a document may be any file
OTHER_PARAMETERS = {"provider_id": "oidc", "uidb36": "1", "key": "key", "app_label": "conversations", "by": "user"}


def answer_of(response: HttpResponse) -> Answer:
    if 300 <= response.status_code < 400:
        if response.url.startswith(TO_SIGN_IN):
            return Answer.SIGN_IN
        return Answer.GATE if response.url.startswith(TO_THE_GATE) else Answer.SHOWN
    if response.status_code >= 500:
        return Answer.BROKEN
    return STATUSES.get(response.status_code, Answer.SHOWN)


def path_of(cell: PathCell, world: World) -> str:
    """Return the address with the ids of the cell in it."""
    ids = {**OTHER_PARAMETERS, **ids_of(cell, world)}
    if "token" in cell.route.parameters:
        ids |= world.alices.ids["shared"]
    if cell.route.name.startswith("admin:"):
        ids |= admin_ids(cell.route.name, world)
    return reverse(cell.route.name, kwargs={parameter: ids[parameter] for parameter in cell.route.parameters})


def ids_of(cell: PathCell, world: World) -> dict[str, Any]:
    if cell.ids == "unknown":
        return unknown_ids()
    ids = dict(world.alices.ids)
    above = next((name for name in ("scenario_id", "folder_id") if name in cell.route.parameters), "public_id")
    if above != "public_id":
        ids["document_id"] = ids[above.replace("_id", "_document_id")]
    if "call_id" in cell.route.parameters:
        ids["public_id"] = ids["awaiting_approval_id"]
    if "deleted" in cell.route.name:
        ids["public_id"] = ids["deleted_id"]
    if cell.ids == "crossed":
        ids[above] = world.others(cell.who).ids[above]
    return ids


def admin_ids(name: str, world: World) -> dict[str, Any]:
    """Return the ids in an address of the admin: of the example of its model, or of Alice."""
    example = next((row for model, row in world.for_admin.items() if _is_about(model, name)), world.alices.owner)
    ids = dict.fromkeys(("object_id", "pk", "id"), example.pk)
    return ids | {"picture_id": world.alices.ids["picture_id"], "content_type_id": 1, "user_id": world.alices.owner.pk}


def _is_about(model: type[Model], name: str) -> bool:
    return name.startswith(f"admin:{model._meta.app_label}_{model._meta.model_name}_")


def ask(client: Client, method: str, path: str, fields: dict[str, Any]) -> HttpResponse:
    if method == "GET":  # the bytes of a file are no parameter
        return client.get(path, {name: value for name, value in fields.items() if name != "files"})
    return client.post(path, fields)


def fields_of(world: World, who: Who) -> dict[str, Any]:
    """Return what forms send, with a scenario of the person's own, and the approval of the call that awaits Alice's."""
    fields: dict[str, Any] = {"content": "Hello", "client_id": str(uuid.uuid4()), "title": "Stolen", "name": "Stolen"}
    return (
        fields
        | {
            "scenario": world.own(who).ids["scenario_id"],
            "conversation": world.own(who).ids["public_id"],
            "pinned": "true",
            "excluded": "true",
            "never_recalled": "true",
            "summarises": "true",
            "searches_web": "true",
            "version": "2",
            "length": "1",
            "shows": "true",
            "starred": "true",
            "archived": "true",
            "folded": "true",
            "action": "move",
            "verdict": "bad",
            "remark": "Stolen",
        }
        | {"files": SimpleUploadedFile("hello.png", PICTURE), "digest": world.alices.ids["digest"], "allowed": "yes"}
    )


def ask_as(cell: PathCell, world: World) -> tuple[Answer, str | None]:
    """Return the answer to *cell* and what is wrong with it, if anything is. What it changed is taken back."""
    cache.clear()  # which counts attempts
    with transaction.atomic():
        client = world.client_of(cell.who)
        before = world.fingerprint_of(cell.who)
        fields = {} if cell.method == "GET" else fields_of(world, cell.who)
        writes = count_writes()
        response = ask(client, cell.method, path_of(cell, world), fields)
        answer = answer_of(response)
        has_changed = is_refusal(answer, cell) and count_writes() != writes and fingerprint() != before
        transaction.set_rollback(True)
    return answer, judge(cell, answer, response, has_changed=has_changed)


def is_refusal(answer: Answer, cell: PathCell) -> bool:
    return answer not in LET_THROUGH or (answer is Answer.REFUSED and cell.who is not Who.OWNER)


def judge(cell: PathCell, answer: Answer, response: HttpResponse, *, has_changed: bool) -> str | None:
    said = f"{cell.who.value}, {cell.method} {cell.route.name} by {cell.ids} ids: {answer.value}"
    if answer not in expected_of(cell):
        return f"{said} ({response.status_code})"
    if has_changed:
        return f"{said}, and the database has changed"
    if not may_read(cell) and CANARY in text_of(response):
        return f"{said}, and Alice's words are in it"
    return None


def text_of(response: HttpResponse) -> str:
    """Return what a page or a file says. One that is packed is looked into by tests of its own."""
    if response.headers["Content-Type"] == "application/zip":
        return ""
    return _sent(response).decode(errors="replace") if response.streaming else response.text


@async_to_sync
async def _sent(response: HttpResponse) -> bytes:
    """Return all of a file that is sent in pieces."""
    return b"".join([piece async for piece in response.streaming_content])


def expected_of(cell: PathCell) -> frozenset[Answer]:
    if cell.route.name in BEGINS_WITH_ANY_ID and cell.ids == "unknown" and cell.who.is_let_in:
        return LET_THROUGH | {Answer.WRONG_METHOD}
    return expected(door_of(cell.route.name), cell.who, theirs=cell.ids == "alice's")


def may_read(cell: PathCell) -> bool:
    """Reviewers and admins have given no reason, so the admin shows them no word of Alice's."""
    return cell.who is Who.OWNER
