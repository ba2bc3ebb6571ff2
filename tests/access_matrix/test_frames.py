"""Everybody × every frame × every id in it, over sockets that were opened while all was well."""

from __future__ import annotations

import uuid
from dataclasses import fields
from typing import Any

import pytest
from django.conf import settings

from chatsite.accounts.models import User
from conversations.core.frames.definitions import FROM_PAGE
from tests.support.sockets import Page, handshake, sign_in
from tests.support.waiting import in_thread

from .cells import FrameCell, frame_cells
from .people import Who
from .world import STATES, UNKNOWN, World, fingerprint, unknown_ids

SIGNED_OUT, SHUT_OUT = 4401, 4403
PROBE, PROBED = "no.frame", "frame_invalid"
NOT_FOUND = {"conversation_not_found", "message_not_found", "call_not_found"}


@pytest.fixture
async def world(transactional_db, settings) -> World:
    settings.MESSAGES_PER_MINUTE = 0
    return await in_thread(World)


def fields_of(cell: FrameCell, world: World) -> dict[str, Any]:
    """Return every field that any frame has; the frame takes its own."""
    ids = unknown_ids() if cell.ids == "unknown" else dict(world.alices.ids)
    if cell.frame == "call.decide" and cell.ids != "unknown":
        ids["public_id"] = ids["awaiting_approval_id"]
    conversation = world.others(cell.who).ids["public_id"] if cell.ids == "crossed" else ids["public_id"]
    values = {
        "conversation": conversation,
        "reply": ids["reply_id"] if cell.ids != "unknown" else UNKNOWN,
        "message": ids["message_id"],
        "call": ids["call_id"],
        "digest": world.alices.ids["digest"],
        "allowed": True,
        "client_id": uuid.uuid4(),
        "content": "Hello",
        "pictures": None,
        "from_position": 0,
        "language_model": "",
        "effort": "",
        "length": 1,
    }
    return {field.name: values[field.name] for field in fields(FROM_PAGE[cell.frame])}


async def answer_to(cell: FrameCell, world: World) -> int | str:
    """Return the code with which the socket is closed, or that of the error, or the type of what is answered."""
    user = world.person(cell.who)
    page = await Page.open(user)
    await in_thread(User.objects.filter(pk=user.pk).update, **STATES.get(cell.who, {}))
    try:
        await page.send(cell.frame, **fields_of(cell, world))
        if cell.who in STATES:
            return await page.close_code()
        await page.send(PROBE)  # is answered after the frame, also where that has no answer of its own
        answer = await page.receive("error", "conversation.snapshot")
        return str(answer["code"] if "code" in answer else answer["type"])
    finally:
        await in_thread(_put_right, user)
        await page.communicator.disconnect()


def _put_right(user: User) -> None:
    user.save()


def expected(cell: FrameCell) -> set[int | str]:
    if cell.who is Who.DEACTIVATED:
        return {SIGNED_OUT}
    if cell.who in STATES:
        return {SHUT_OUT}
    if cell.who is Who.OWNER and cell.ids == "alice's":
        return {"conversation.snapshot", "nothing_to_regenerate", "nothing_to_continue", "reply_in_progress", PROBED}
    return NOT_FOUND


@pytest.mark.parametrize("who", [who for who in Who if who is not Who.ANONYMOUS], ids=lambda who: who.name)
async def test_a_frame_opens_only_what_is_ones_own(world, who):
    before = await in_thread(fingerprint)
    for cell in (cell for cell in frame_cells() if cell.who is who):
        answer = await answer_to(cell, world)
        assert answer in expected(cell), cell
        assert who is Who.OWNER or await in_thread(fingerprint) == before, cell


async def test_without_a_sign_in_no_socket_opens_for_any_frame(world):
    accepted, _ = await handshake(None, settings.SITE_URL).connect()
    assert not accepted


@pytest.mark.parametrize("who", STATES, ids=lambda who: who.name)
async def test_who_is_not_let_in_opens_no_socket(world, who):
    user = world.person(who)
    session_key = await in_thread(sign_in, user)
    await in_thread(User.objects.filter(pk=user.pk).update, **STATES[who])
    accepted, _ = await handshake(session_key, settings.SITE_URL).connect()
    assert not accepted
