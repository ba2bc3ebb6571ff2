"""Every address of the site, read from the URL configuration, and what kind of door each one has.

A route that is named nowhere here fails `test_pages.py`, so that a new one can't be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver


class Door(Enum):
    """Who may go through."""

    PUBLIC = "everyone"
    ACCOUNT = "every user who is signed in, also outside the gate"
    PERSON = "every admitted user, to what is their own"
    OBJECT = "admitted users, to one object: only its owner"
    PART_OF_ACCOUNT = "its owner, also outside the gate"
    STAFF = "reviewers and admins"
    REVIEW = "reviewers and admins: a page that shows what may be reviewed"
    ADMIN = "admins"
    KEY = "programs with a key; no cookie opens it"


@dataclass(frozen=True, slots=True)
class Route:
    """One address; *parameters* are the names of what stands in it."""

    name: str
    pattern: str
    parameters: tuple[str, ...]


CONVERSATIONS = {
    Door.PERSON: {
        *("new", "list", "estimate", "preview", "scenarios", "new_scenario", "scenario_from_file"),
        *("usage", "export_usage", "show_costs"),
        *("about_me", "export_account", "readings"),
        *(
            "commands",
            "search",
            "saved_prompts",
            "new_saved_prompt",
            *("api_keys", "new_api_key", "api_reference"),
            "imports",
            "export_several",
            "archived",
            "deleted",
            "empty_deleted",
            "deleted_soon",
            "folders",
            "select",
            "arrange",
        ),
        # Who has the token of a share is its reader; tests/views/test_shared_pages.py has the tokens that open nothing.
        *("shares", "shared", "shared_window", "shared_picture", "continue_share"),
    },
    Door.OBJECT: {
        *(
            "conversation",
            "thread",
            "find",
            "map",
            "post",
            "sync",
            "stop",
            "regenerate",
            "regenerate_with",
            "continue",
            "window",
            "request",
            "sources",
            "message_markdown",
            "message_menu",
            "rating",
            "branch",
            "export",
            "share",
            "share_up_to",
        ),
        *("revoke_share", "change_share", "delete_share"),
        *("pin", "exclude", "recall", "forget", "remember", "edit", "show", "decide_call", "call_result", "reasoning"),
        *("add_picture", "picture", "describe_picture"),
        *("switch_summary", "edit_summary", "undo_summary"),
        *(f"{kind}_documents" for kind in ("conversation", "folder", "scenario")),
        *(f"add_{kind}_documents" for kind in ("conversation", "folder", "scenario")),
        *(f"{verb}_conversation_document" for verb in ("download", "delete", "read_again")),
        *(f"{verb}_folder_document" for verb in ("download", "delete", "read_again")),
        *(f"{verb}_scenario_document" for verb in ("download", "delete", "read_again")),
        *(
            "scenario",
            "choose_model",
            "web_search",
            "keep",
            *("folder", "delete_folder", "fold_folder", "move"),
            *("deleted_conversation", "actions", "place", "star", "archive", "undo"),
            "rename",
            "notes",
            "delete",
            "restore",
            "edit_scenario",
            "delete_scenario",
            "export_scenario",
            "saved_prompt",
            "delete_saved_prompt",
            "revoke_api_key",
            "api_key_webhook",
            *("import", "import_piece", "start_import", "pause_import", "resume_import"),
            *("cancel_import", "delete_import", "import_left_out"),
        ),
    },
}
API = (
    *("api_models", "api_model", "api_chat_completions", "api_window"),
    *("api_responses", "api_response", "api_cancel_response", "api_input_items", "api_input_tokens"),
    *("api_conversations", "api_conversation", "api_items", "api_item"),
    *("api_preview", "api_response_windows", "api_recall", "api_search", "api_usage", "api_export"),
)
DOORS: dict[str, Door] = {
    **{f"conversations:{name}": Door.KEY for name in API},
    "conversations:api_description": Door.PUBLIC,
    "conversations:privacy": Door.PUBLIC,
    **{f"conversations:{name}": door for door, names in CONVERSATIONS.items() for name in names},
    **dict.fromkeys(
        ("admin:index", "admin:search", "admin:jsi18n", "admin:app_list", "admin:autocomplete"), Door.STAFF
    ),
    **dict.fromkeys(("admin:password_change", "admin:password_change_done", "admin:view_on_site"), Door.STAFF),
    **dict.fromkeys(("admin:login", "admin:logout"), Door.PUBLIC),
    "admin:conversations_calibration_forget_limit": Door.ADMIN,
    "admin:conversations_mcpserver_list_tools": Door.ADMIN,
    "admin:conversations_share_revoke": Door.ADMIN,
    "admin:conversations_legalhold_lift": Door.ADMIN,
    "admin:conversations_apikey_revoke": Door.ADMIN,
    "admin:conversations_webhook_test": Door.ADMIN,
    "admin:conversations_completion_figures": Door.STAFF,
    **dict.fromkeys(
        ("admin:conversations_conversation_read", "admin:conversations_reading_search"),
        Door.STAFF,
    ),
    **{f"admin:conversations_conversation_export_{kind}": Door.REVIEW for kind in ("json", "csv")},
    "admin:conversations_conversation_picture": Door.REVIEW,
    **{f"admin:conversations_completion_prompt{kind}": Door.REVIEW for kind in ("", "_json")},
    **{f"admin:accounts_gate_{name}": Door.ADMIN for name in ("password", "person", "person_password")},
    **dict.fromkeys(
        (
            *("account", "account_email", "account_change_password", "account_set_password", "account_reauthenticate"),
            *("end_sessions", "conversations:delete_account"),
            *("first_admin_claim", "socialaccount_connections", "mfa_reauthenticate"),
            *("mfa_activate_totp", "mfa_deactivate_totp", "mfa_view_recovery_codes", "mfa_generate_recovery_codes"),
            *("mfa_download_recovery_codes", "mfa_list_webauthn", "mfa_add_webauthn"),
            *("second_factor", "gate"),
        ),
        Door.ACCOUNT,
    ),
    **dict.fromkeys(
        (
            *("account_signup", "account_login", "account_logout", "account_inactive", "account_confirm_email"),
            *("account_email_verification_sent", "account_confirm_login_code", "account_reset_password"),
            *("account_reset_password_done", "account_reset_password_from_key", "account_reset_password_from_key_done"),
            *("first_admin", "invitation", "invitation_decline", "mfa_authenticate", "mfa_login_webauthn", "mfa_index"),
            *("mfa_reauthenticate_webauthn", "account_deleted", "language", "conversations:metrics", "manifest"),
            *("openid_connect_login", "openid_connect_callback", "socialaccount_signup"),
            *("socialaccount_login_cancelled", "socialaccount_login_error"),
        ),
        Door.PUBLIC,
    ),
    **dict.fromkeys(("mfa_remove_webauthn", "mfa_edit_webauthn"), Door.PART_OF_ACCOUNT),
}
REVIEWED = {"conversation", "message", "completion", "toolcall", "reading", "run", "share"}
VERBS = ("changelist", "add", "history", "delete", "change")
READING = {"changelist", "history", "change"}
# Addresses without a name only lead to others: the admin's short ones and its catch-all, allauth's old ones.
WITHOUT_A_NAME = (r"admin/\w+/\w+/<path:object_id>/", r"admin/\(\?P<url>\.\*\)\$", r"accounts/social/[\w/]+/")


@cache
def routes() -> tuple[Route, ...]:
    """Return every address. An address without a name is reached by no `reverse`: see `WITHOUT_A_NAME`."""
    return tuple(route for route in _walk(get_resolver().url_patterns) if route.name)


def unnamed() -> list[str]:
    """Return the addresses that have no name and are not known to be harmless."""
    patterns = (route.pattern for route in _walk(get_resolver().url_patterns) if not route.name)
    return [pattern for pattern in patterns if not any(re.fullmatch(known, pattern) for known in WITHOUT_A_NAME)]


def _walk(patterns: list[URLPattern | URLResolver], above: Route = Route("", "", ())) -> Iterator[Route]:
    for pattern in patterns:
        path = above.pattern + str(pattern.pattern)
        parameters = (*above.parameters, *pattern.pattern.regex.groupindex)
        if isinstance(pattern, URLResolver):
            namespace = above.name + (f"{pattern.namespace}:" if pattern.namespace else "")
            yield from _walk(pattern.url_patterns, Route(namespace, path, parameters))
        else:
            yield Route(above.name + pattern.name if pattern.name else "", path, parameters)


@cache
def door_of(name: str) -> Door | None:
    """Return the door of the route with that name, or None if none is declared."""
    if name in DOORS:
        return DOORS[name]
    for model in admin.site._registry:
        for verb in VERBS:
            if name == f"admin:{model._meta.app_label}_{model._meta.model_name}_{verb}":
                return _door_of_model(model._meta.app_label, model._meta.model_name or "", verb)
    return None


def _door_of_model(app_label: str, model_name: str, verb: str) -> Door:
    is_reviewed = app_label == "conversations" and model_name in REVIEWED and verb in READING
    return Door.REVIEW if is_reviewed else Door.ADMIN


def routes_with_a_door() -> list[Route]:
    return [route for route in routes() if door_of(route.name)]
