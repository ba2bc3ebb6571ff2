"""Alice's objects, those of everybody who asks for them, and what is in the database at a moment."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from chatsite.accounts.models import (
    AccountChange,
    ChangeKind,
    Gate,
    GateRule,
    Invitation,
    Limits,
    SecurityEvent,
    SiteBudget,
    User,
)
from chatsite.accounts.sessions.session_store import SessionStore
from conversations.core.api.item_ids import StoredId, conversation_id
from conversations.models import (
    ApiKey,
    Calibration,
    Conversation,
    Document,
    LegalHold,
    McpServer,
    Message,
    Price,
    PrivacyNotice,
    Reading,
    RetentionRule,
    Run,
    Scenario,
    Share,
    ToolCall,
    Webhook,
)
from conversations.models.completion import Purpose
from conversations.services.api.api_keys import make_key
from conversations.services.conversations.conversations import rename_conversation
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.conversations.folders import create_folder
from conversations.services.conversations.list_changes import arrange_conversations
from conversations.services.conversations.notes import save_about_me, save_notes
from conversations.services.imports.import_files import SentFile, add_piece, begin_import
from conversations.services.portability.share_conversation import share_conversation
from conversations.services.portability.shared_rows import ShareChoices
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.retention.legal_holds import place_hold
from conversations.services.review.readings import open_reading
from conversations.services.saved_prompts.saved_prompts import save_prompt
from tests.accounts.software_passkeys import make_passkey
from tests.admin.stored import make_completion
from tests.support.append_only import mended_log
from tests.support.awaiting_approval import make_call_awaiting_approval
from tests.support.documents import add
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture
from tests.support.sockets import sign_in
from tests.support.summaries import keep_summary

from .people import Who

CANARY = "the canary sings at dawn"
UNKNOWN = 10**9
# What a request may write though it is refused, and what no request of these is about.
UNWATCHED = {
    "accounts_attemptcount",
    "accounts_cacheentry",
    "accounts_securityevent",
    "accounts_session",
    "django_admin_log",
    "django_content_type",
    "django_migrations",
}


@dataclass(frozen=True, slots=True)
class Belongings:
    """What one person has: ids by the names that addresses, bodies and frames have for them."""

    owner: User
    ids: dict[str, Any]


class World:
    """Alice and everybody else, each with a conversation and a scenario of their own."""

    def __init__(self) -> None:
        admin_user = make_user("ada", role="admin")
        reviewer = make_user("grace", role="reviewer")
        alice, bob = make_user("alice"), make_user("bob")
        askers = {Who.OTHER: bob, Who.REVIEWER: reviewer, Who.GATED_REVIEWER: reviewer, Who.ADMIN: admin_user}
        self._people = {who: askers.get(who, alice) for who in Who if who is not Who.ANONYMOUS}
        self.alices = belongings_of(alice, CANARY)
        self._own = {user.pk: belongings_of(user, "Mine") for user in (bob, reviewer, admin_user)}
        self.for_admin = {model: make(self) for model, make in EXAMPLES.items()}
        self._fingerprints: dict[Who, str] = {}
        self._session_keys = {who: session_of(user) for who, user in self._people.items()}
        self._handler = Client().handler  # with the chain of middleware, which a new one would load for each cell

    def client_of(self, who: Who) -> Client:
        """Return a browser that signed in while all was well, and bring the account into its state of now."""
        client = Client()
        client.handler = self._handler
        if who is not Who.ANONYMOUS:
            client.cookies[settings.SESSION_COOKIE_NAME] = self._session_keys[who]
            User.objects.filter(pk=self._people[who].pk).update(**STATES.get(who, {}))
        return client

    def fingerprint_of(self, who: Who) -> str:
        """Return what the database is like before *who* asks: the same each time, for it is put back."""
        if who not in self._fingerprints:
            self._fingerprints[who] = fingerprint()
        return self._fingerprints[who]

    def person(self, who: Who) -> User:
        """Return the account of *who*, as it is while all is well. Raises `KeyError` for an anonymous visitor."""
        return self._people[who]

    def own(self, who: Who) -> Belongings:
        """Return what belongs to the person who asks; Bob's for an anonymous visitor."""
        return self.alices if who.is_the_owner else self.others(who)

    def others(self, who: Who) -> Belongings:
        """Return what is not Alice's: the asker's own, or Bob's where Alice or an anonymous visitor asks."""
        user = self._people.get(who)
        return (user and self._own.get(user.pk)) or self._own[self._people[Who.OTHER].pk]


STATES: dict[Who, dict[str, Any]] = {
    Who.GATED: {"gate_rule": GateRule.REQUIRED},
    Who.GATED_REVIEWER: {"gate_rule": GateRule.REQUIRED},
    Who.BLOCKED: {"gate_rule": GateRule.BLOCKED},
    Who.DEACTIVATED: {"is_active": False},
}


def session_of(user: User) -> str:
    """Return the key of a session that was begun a moment ago with password and second factor."""
    session = SessionStore(sign_in(user))
    when = {"at": time.time() + 3_600, "reauthenticated": True}  # as long as the tests take
    session["account_authentication_methods"] = [{"method": method, **when} for method in ("password", "mfa")]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    return str(session.session_key)


def belongings_of(user: User, content: str) -> Belongings:
    conversation = begin(user)
    save_notes(conversation, content)
    save_about_me(user, content)
    posted = post(conversation, content)
    prepared = prepare_reply(posted.reply.pk)
    make_completion(user, reply=posted.reply, window=prepared.window.record.to_json(), request={"model": "demo"})
    end_reply(posted.reply.pk, COMPLETE, content=f"Indeed, {content}")
    keep_summary(conversation, content, posted.message)
    deleted = begin(user)
    rename_conversation(deleted, title=content)
    delete_conversation(deleted)
    scenario = Scenario.objects.create(name=f"{user.name}’s {content}", owner=user)
    awaiting = make_call_awaiting_approval(user, {"note": content})
    folder = create_folder(user, name=f"{user.name}’s {content}")
    documents = [add(user, place, f"{content}.txt", content.encode()) for place in (conversation, scenario, folder)]
    ids = {
        "public_id": conversation.public_id,
        "deleted_id": deleted.public_id,
        "reply_id": posted.reply.pk,
        "response_id": f"resp_{StoredId(conversation.public_id, posted.reply.pk).suffix}",
        "conversation_id": conversation_id(conversation.public_id),
        "item_id": f"msg_{StoredId(conversation.public_id, posted.message.pk).suffix}",
        "message_id": posted.message.pk,
        "scenario_id": scenario.pk,
        "awaiting_approval_id": awaiting.reply.conversation.public_id,
        "call_id": awaiting.pk,
        "digest": awaiting.digest,
        "document_id": documents[0].public_id,
        "scenario_document_id": documents[1].public_id,
        "folder_document_id": documents[2].public_id,
        "picture_id": store_picture(conversation, content.encode(), alt_text=content).pk,
        "change_id": arrange_conversations(user, [conversation.public_id], starred=True).pk,
        "folder_id": folder.pk,
        "prompt_id": save_prompt(user, name=f"{user.name}’s", content=content).pk,
        **_key_of(user),
        "name": "windowseat-demo",
        "import_id": _imported(user, f"{content}.zip"),
        "number": 0,
        "pk": make_passkey(user).pk,
        **_shared(user),
    }
    return Belongings(user, ids)


def _key_of(user: User) -> dict[str, Any]:
    """Return a key, its text, and the record of a window that it asked for."""
    made = make_key(user, name=f"{user.name}’s")
    row = make_completion(user, purpose=Purpose.API, api_key=made.key, window={"entries": []})
    return {"key_id": made.key.public_id, "key_text": made.text, "window_id": row.opening_key}


def _imported(user: User, name: str) -> uuid.UUID:
    """Return an import whose file is whole: longer than a form, which then changes nothing of it when it is sent."""
    begun = begin_import(user, [SentFile(name, size := 100_000)])
    add_piece(begun, 0, start=0, content=bytes(size))
    return begun.public_id


def _shared(user: User) -> dict[str, Any]:
    """Return what addresses of a share have, of a conversation without a word that is theirs alone."""
    conversation = begin(user)
    picture = store_picture(conversation, b"shared")
    posted = post(conversation, "Hello", pictures=[picture.pk])
    make_completion(user, reply=posted.reply, window=prepare_reply(posted.reply.pk).window.record.to_json())
    end_reply(posted.reply.pk, COMPLETE, content="Good morning")
    shown = ShareChoices(shows_windows=True, shows_pictures=True)
    made = share_conversation(user=user, conversation=conversation, message_id=None, title="Shared", shown=shown)
    shared = {"token": made.token, "number": 2, "picture_id": picture.pk}
    return {"share_id": made.share.public_id, "shared": shared}


def unknown_ids() -> dict[str, Any]:
    return {
        "public_id": uuid.uuid4(),
        "reply_id": UNKNOWN,
        "change_id": UNKNOWN,
        "folder_id": UNKNOWN,
        "message_id": UNKNOWN,
        "scenario_id": UNKNOWN,
        "call_id": UNKNOWN,
        "document_id": uuid.uuid4(),
        "picture_id": UNKNOWN,
        "prompt_id": UNKNOWN,
        "import_id": uuid.uuid4(),
        "key_id": uuid.uuid4(),
        "window_id": uuid.uuid4(),
        "response_id": f"resp_{StoredId(uuid.uuid4(), UNKNOWN).suffix}",
        "conversation_id": conversation_id(uuid.uuid4()),
        "item_id": f"msg_{StoredId(uuid.uuid4(), UNKNOWN).suffix}",
        "name": "no-such-model",
        "number": 0,
        "pk": UNKNOWN,
        "share_id": uuid.uuid4(),
    }


# One row of every model that the admin shows.
EXAMPLES: dict[type[Model], Callable[[World], Model]] = {
    Conversation: lambda world: Conversation.objects.get(public_id=world.alices.ids["public_id"]),
    Message: lambda world: Message.objects.get(pk=world.alices.ids["message_id"]),
    Run: lambda world: Run.objects.get(reply_id=world.alices.ids["reply_id"]),
    apps.get_model("conversations", "Completion"): lambda world: world.alices.owner.completions.get(
        reply=world.alices.ids["reply_id"]
    ),
    ToolCall: lambda world: ToolCall.objects.get(pk=world.alices.ids["call_id"]),
    Document: lambda world: Document.objects.get(public_id=world.alices.ids["document_id"]),
    Scenario: lambda world: Scenario.objects.get(pk=world.alices.ids["scenario_id"]),
    Reading: lambda world: reading_of(world),
    LegalHold: lambda world: place_hold(admin=world.person(Who.ADMIN), user=make_user("ada.alice"), reason="Indeed"),
    RetentionRule: lambda world: RetentionRule.objects.create(role="reviewer", days=90),
    ApiKey: lambda world: ApiKey.objects.get(public_id=world.alices.ids["key_id"]),
    Webhook: lambda world: Webhook.objects.get_or_create(api_key=None, url="https://hooks.example.org/")[0],
    Share: lambda world: Share.objects.get(public_id=world.alices.ids["share_id"]),
    Calibration: lambda world: Calibration.objects.get_or_create(language_model="letters")[0],
    Price: lambda world: Price.objects.create(language_model="letters", input_usd=1, output_usd=2),
    McpServer: lambda world: McpServer.objects.create(name="inside", url="http://127.0.0.1:1/mcp"),  # never asked
    User: lambda world: world.alices.owner,
    AccountChange: lambda world: AccountChange.objects.create(user=world.alices.owner, kind=ChangeKind.FACTORS),
    SecurityEvent: lambda world: SecurityEvent.objects.create(user=world.alices.owner, kind="signed_in"),
    Gate: lambda world: Gate.objects.get_or_create()[0],
    Limits: lambda world: Limits.objects.create(user=world.alices.owner, replies_at_once=5),
    SiteBudget: lambda world: SiteBudget.objects.create(),
    PrivacyNotice: lambda world: PrivacyNotice.objects.create(content="2026"),
    Invitation: lambda world: Invitation.objects.create(token_hash="0" * 64, expires_at=timezone.now()),
}


def reading_of(world: World) -> Reading:
    """Return a reading of Alice's conversation whose time is over."""
    conversation = Conversation.objects.get(public_id=world.alices.ids["public_id"])
    reading = open_reading(world.person(Who.REVIEWER), conversation, "A reason that held once")
    with mended_log():
        Reading.objects.filter(pk=reading.pk).update(ends_at=reading.began_at)
    return reading


def shown_in_the_admin() -> set[type[Model]]:
    return set(admin.site._registry)


def fingerprint() -> str:
    """Return what changes with any row of any table, in one statement."""
    one = "SELECT '{0}' AS name, md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) AS rows FROM \"{0}\" t"
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(one.format(table) for table in _watched_tables()))
        return str(sorted(cursor.fetchall()))


def count_writes() -> tuple[int, int]:
    """Return what changes with each row that the transaction writes, also one that is taken back, and each truncation.

    Of this connection alone, but at a hundredth of the cost of a fingerprint: where it stays, so do all rows.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ask_for_writes())
        [(rows, files)] = cursor.fetchall()
        return rows, files


@cache
def _watched_tables() -> list[str]:
    return sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True)} - UNWATCHED)


@cache
def _ask_for_writes() -> str:
    written = " + ".join(f"pg_stat_get_xact_tuples_{how}(id)" for how in ("inserted", "updated", "deleted"))
    ids = ", ".join(f"'{table}'::regclass::oid" for table in _watched_tables())
    return f"SELECT sum({written}), sum(pg_relation_filenode(id)::bigint) FROM unnest(ARRAY[{ids}]) AS tables (id)"
