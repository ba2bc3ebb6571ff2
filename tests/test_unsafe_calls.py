"""Calls that can open a security hole occur only in the files that are listed, each with its reason.

Text that no one escapes, rows that are found by a bare id, fields of a request that become columns, requests to
addresses that no guard has seen. `ruff` (its rules `S`) has those that need no knowledge of the product.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.source import PROJECT, calls, imports, python_files

FILES = [path for path in python_files("chatsite", "conversations") if "migrations" not in path.parts]
TEMPLATES = sorted(
    path.relative_to(PROJECT)
    for folder in ("templates", "chatsite", "conversations")
    for path in (PROJECT / folder).rglob("*")
    if path.suffix in {".html", ".txt", ".xml", ".svg"}
)

# Text that is taken for safe HTML: file → why it is.
TAKEN_FOR_SAFE = {
    "chatsite/compiled_templates/address_nodes.py": "what html.escape returned",
    "chatsite/compiled_templates/included_templates.py": "as Django's own: joins what nodes of a template wrote",
    "chatsite/compiled_templates/nodes.py": "as Django's own: joins what nodes of a template wrote",
    "chatsite/compiled_templates/sentence_nodes.py": "as Django's own: its values are escaped as the page says",
    "conversations/rendering/markdown.py": "what the sanitizer returned, or each line escaped",
    "conversations/rendering/block_stream.py": "joins what it returned",
    "conversations/views/conversations/render_messages.py": "joins what it returned",
    "conversations/views/conversations/html_cache.py": "keeps what templates and the sanitizer returned",
    "conversations/views/conversation_list/draw_entries.py": "joins what templates returned",
    "conversations/templatetags/calls.py": "joins what format_html returned",
    "conversations/templatetags/admin_page.py": "was safe, and gets our own attributes and words",
    "conversations/views/portability/exported_page.py": "our own style sheets",
}
SAFE_CALLS = {"mark_safe", "SafeString", "SafeText", "html_safe"}
UNESCAPED = re.compile(r"\|\s*safe(?:seq)?\b|\bautoescape\s+off\b")

# Rows that are found by their key, with `get` and the like, not `filter`: file and key → why it is no one else's row.
# What a request names is found by `conversations/access.py`, through its owner.
FOUND_BY_KEY = {
    "conversations/admin/ledger/prompt.py pk=pk": "the permission to see the ledger is asked just before",
    "conversations/admin/review/conversation.py pk=pk": "a reviewer's; what is shown is recorded as a reading",
    "conversations/admin/review/conversation.py pk=picture_id": "within the conversation that the reading is of",
    "conversations/management/commands/import_conversations.py pk=claimed.id": "its own, on the command line",
    "conversations/management/commands/import_conversations.py pk=import_id": "an operator's, on the command line",
    "conversations/runs/held_run.py pk=run.reply_id": "the run's own, which this worker has claimed",
    "conversations/selectors/conversations/versions.py pk=reply.pk": "a row that was found before",
    "conversations/services/api/idempotent_requests.py pk=row[0]": "found by the key's owner just before",
    "conversations/services/conversations/folders.py pk=user.pk": "locks the user who asks",
    "conversations/services/documents/embed_document.py pk=row[0]": "claimed just before",
    "conversations/services/documents/index_document.py pk=document_id": "claimed just before",
    "conversations/services/grounding/keep_passages.py pk=message_id": "the message of the reply that is being made",
    "conversations/services/imports/import_pictures.py pk=pictures.message_id": "a row of the import itself",
    "conversations/services/imports/run_import.py pk=self.claimed.id": "claimed just before",
    "conversations/services/message_index/embed_messages.py pk=row[0]": "claimed just before",
    "conversations/services/messages/post_message.py pk=by_client_id[client_id]": "found in this conversation before",
    "conversations/services/replies/make_reply.py pk=reply_id": "the claimed run's own",
    "conversations/services/replies/reap_reply.py pk=reply_id": "a run whose lease is over",
    "conversations/services/saved_prompts/saved_prompts.py pk=user.pk": "locks the user who asks",
    "conversations/services/scenarios/example_scenario.py pk=default_scenario().pk": "locks the site's own",
    "conversations/services/summaries/claim_summary.py pk=conversation_id": "claimed just before",
    "conversations/services/titles/claim_title.py pk=conversation_id": "claimed just before",
    "conversations/services/webhooks/webhooks.py pk=key.pk": "locks a row that was found by its owner",
    "conversations/services/webhooks/webhooks.py pk=webhook.pk": "locks a row that was found by its owner",
    "conversations/views/scenarios/scenarios.py pk=instance.pk": "read again after a form of it was refused",
}
FINDING_CALLS = {"get", "aget", "get_object_or_404", "aget_object_or_404"}
KEYS = {"pk", "id", "public_id"}

# Names of columns that are not written out: at the edges each file has its reason. Elsewhere, none may be a request's.
COLUMNS_AT_THE_EDGES = {
    "conversations/admin/review/reading_filters.py": "the filter's own name, of two that the class is made with",
    "conversations/views/conversation_list/folders.py": "counts that the view names itself",
    "chatsite/accounts/security/security_log.py": "fields of the log, written out by its callers",
    "chatsite/accounts/sessions/session_store.py": "device and address, named in the function",
    "chatsite/accounts/sign_up/invitations.py": "a new link, named in the function",
}
EDGES = ("conversations/views/", "conversations/sockets/", "conversations/admin/", "conversations/forms/", "chatsite/")
WRITES_AND_FILTERS = {
    *("create", "acreate", "get", "aget", "filter", "exclude", "update", "aupdate", "annotate"),
    *("get_or_create", "aget_or_create", "update_or_create", "aupdate_or_create"),
}
OF_A_REQUEST = {"request", "POST", "GET", "FILES", "body", "payload", "data", "frame", "cleaned_data"}

# What opens connections: file → why its address needs no guard of its own. All else goes through `providers/egress`.
OPENS_CONNECTIONS = {
    "conversations/providers/egress/transport.py": "is the guard",
    "conversations/providers/openai_api/network_transport.py": "OPENAI_BASE_URL, which an operator sets",
    "conversations/providers/clients/model_list.py": "OPENAI_BASE_URL, when an operator asks for its models",
    "conversations/providers/clients/embeddings.py": "with the provider's transport",
    "conversations/providers/clients/web_search.py": "with a guarded transport",
    "conversations/providers/clients/webhooks.py": "with a guarded transport",
    "conversations/providers/mcp/client.py": "with a guarded transport",
    "conversations/providers/demo/transport.py": "never leaves the process",
}
CONNECTING = {
    *("AsyncClient", "Client", "ClientSession", "AsyncOpenAI", "OpenAI", "HTTPConnection", "HTTPSConnection"),
    *("urlopen", "urlretrieve", "create_connection", "open_connection", "getaddrinfo"),
}
# What connects without our guard: file and package → why that is enough.
UNGUARDED = {
    "chatsite/accounts/openid_connect/provider.py requests": "an exception of it, which allauth's requests raise",
    "conversations/management/doctor/proxy.py http.client": "asks this site itself, through its proxy",
    "conversations/management/doctor/mail.py smtplib": "EMAIL_URL, which an operator sets",
}
UNGUARDED_PACKAGES = re.compile(
    r"(requests|httpx|urllib3|urllib\.request|http\.client|ftplib|smtplib|pycurl|xmlrpc)(\.|$)"
)


def found_calls(names: set[str]) -> Iterator[tuple[Path, str, ast.Call]]:
    """Yield file, name and call of all calls of functions with one of these *names*."""
    for path in FILES:
        yield from ((path, name, call) for name, call in calls(path) if name in names)


def place(path: Path, call: ast.Call) -> str:
    return f"{path}:{call.lineno} {ast.unparse(call)[:80]}"


def is_written_out(text: ast.expr) -> bool:
    """Is it a constant, the translation of one, or one of two?"""
    match text:
        case ast.Constant():
            return True
        case ast.Call(func=ast.Name(id="gettext" | "gettext_lazy" | "_"), args=[ast.Constant()]):
            return True
        case ast.IfExp(body=body, orelse=other):
            return is_written_out(body) and is_written_out(other)
    return False


def key_of(call: ast.Call) -> str | None:
    """Return the key by which *call* finds a row, as it is written; None if it finds none by a key."""
    return next((f"{each.arg}={ast.unparse(each.value)}" for each in call.keywords if each.arg in KEYS), None)


def found_by_key() -> dict[str, str]:
    """Return file and key → where that is, of all rows that are found by a key outside of `access.py`."""
    found = [(path, key_of(call), call) for path, _, call in found_calls(FINDING_CALLS)]
    elsewhere = [each for each in found if each[0] != Path("conversations/access.py") and each[1]]
    return {f"{path} {key}": place(path, call) for path, key, call in elsewhere}


def unwritten_columns() -> Iterator[tuple[Path, ast.Call, set[str]]]:
    """Yield file, call and the names in `**…` of each call of the ORM whose columns are not all written out."""
    for path, _, call in found_calls(WRITES_AND_FILTERS):
        if starred := [each.value for each in call.keywords if each.arg is None]:
            yield path, call, {name for each in starred for name in names_in(each)}


def names_in(expression: ast.expr) -> Iterator[str]:
    for node in ast.walk(expression):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name


def test_no_text_is_taken_for_safe_but_what_was_made_safe():
    taken = {str(path): place(path, call) for path, _, call in found_calls(SAFE_CALLS)}
    new = taken.keys() ^ TAKEN_FOR_SAFE.keys()
    assert not new, [taken.get(file, file) for file in new]


@pytest.mark.parametrize(("name", "at"), [("format_html", 0), ("format_html_join", 1)])
def test_html_that_is_filled_is_written_out(name, at):
    filled = [(path, call) for path, _, call in found_calls({name})]
    assert filled
    assert not [place(path, call) for path, call in filled if not is_written_out(call.args[at])]


def test_templates_escape_all_but_mails_of_plain_text():
    assert len(TEMPLATES) > 200
    unescaped = [path for path in TEMPLATES if UNESCAPED.search((PROJECT / path).read_text(encoding="utf-8"))]
    assert not [str(path) for path in unescaped if (path.parent.name, path.suffix) != ("email", ".txt")]


def test_rows_that_a_request_names_are_found_through_their_owner():
    found = found_by_key()
    assert found.keys() == FOUND_BY_KEY.keys(), [found.get(each, each) for each in found.keys() ^ FOUND_BY_KEY.keys()]


def test_no_column_is_named_by_a_request():
    columns = list(unwritten_columns())
    at_the_edges = {str(path): place(path, call) for path, call, _ in columns if str(path).startswith(EDGES)}
    new = at_the_edges.keys() ^ COLUMNS_AT_THE_EDGES.keys()
    assert not new, [at_the_edges.get(file, file) for file in new]
    assert not [place(path, call) for path, call, names in columns if names & OF_A_REQUEST]


def test_connections_are_opened_behind_the_guard():
    opening = {str(path): place(path, call) for path, _, call in found_calls(CONNECTING)}
    new = opening.keys() ^ OPENS_CONNECTIONS.keys()
    assert not new, [opening.get(file, file) for file in new]


def test_no_other_package_asks_the_network():
    read = [(path, UNGUARDED_PACKAGES.match(name)) for path in FILES for _, name in imports(path)]
    assert {f"{path} {package[1]}" for path, package in read if package} == UNGUARDED.keys()


def test_a_client_of_http_is_made_with_the_transport_that_guards_it():
    clients = [(path, call) for path, _, call in found_calls({"AsyncClient"})]
    assert clients
    assert not [place(path, call) for path, call in clients if "transport" not in {each.arg for each in call.keywords}]


@pytest.mark.parametrize(
    ("source", "written_out"),
    [
        ('format_html("<b>{}</b>", name)', True),
        ('format_html(gettext("<b>{}</b>"), name)', True),
        ('format_html("<b>" + name + "</b>")', False),
        ('format_html(f"<b>{name}</b>")', False),
        ("format_html(gettext(name), name)", False),
    ],
)
def test_html_that_is_put_together_is_seen(source, written_out):
    assert is_written_out(ast.parse(source, mode="eval").body.args[0]) is written_out


@pytest.mark.parametrize(
    "source", ["Message.objects.create(**request.POST)", "rows.filter(**form.cleaned_data)", "row.update(**body)"]
)
def test_fields_of_a_request_are_seen(source):
    [starred] = [each.value for each in ast.parse(source, mode="eval").body.keywords]
    assert set(names_in(starred)) & OF_A_REQUEST


@pytest.mark.parametrize(
    "source", ["{{ title|safe }}", "{{ title | safe }}", "{{ rows|safeseq }}", "{% autoescape off %}"]
)
def test_a_template_that_escapes_nothing_is_seen(source):
    assert UNESCAPED.search(source)
