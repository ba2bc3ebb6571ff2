"""`import_conversations`: a report on standard output whose last line says how many messages were taken."""

from __future__ import annotations

import io
import signal

import pytest
from django.core.management import CommandError, call_command

from chatsite.accounts.models import Limits
from conversations.management.commands.import_conversations import Command
from conversations.models import Conversation, ConversationImport, Message
from conversations.services.imports import run_import
from tests.support.exports import as_json, as_zip, chatgpt, chatgpt_files, node, odd_chatgpt
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


def run(*arguments):
    out = io.StringIO()
    call_command("import_conversations", *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def test_the_last_line_says_how_many_messages_were_taken_and_those_before_it_what_was_not(tmp_path):
    make_user("alice")
    file = tmp_path / "export.zip"
    file.write_bytes(as_zip(chatgpt_files(odd_chatgpt(), {"id": "x", "title": "Lost one", "create_time": 1})))
    lines = run(file, "--user", "Alice@example.org")
    assert lines[-1] == "8 of 14 messages taken"
    assert "Left out: 1 × System messages" in lines
    assert "Left out: 1 × Content of an unknown type: super_widget" in lines
    assert "Not imported: “Lost one”: it has no messages" in lines
    assert Conversation.objects.get().owner.name == "Alice"


def test_several_files_and_one_that_is_none(tmp_path):
    make_user("alice")
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(as_json([chatgpt("c", [node("a", None, "user", "x")])]))
    bad.write_bytes(b"nothing")
    lines = run(bad, good, "--user", "alice@example.org")
    assert lines[0] == "bad.json: This is neither a ZIP file nor JSON."
    assert lines[-1] == "1 of 1 message taken"
    assert run(good, "--user", "alice@example.org")[-1] == "1 of 1 message taken"
    assert Message.objects.count() == 1


@pytest.fixture
def _interruptible():
    """A process that was begun in a shell's background takes no notice of SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_keeps_what_is_here_and_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    make_user("alice")
    monkeypatch.setattr(run_import, "ITEMS_AT_ONCE", 1)
    file = tmp_path / "a.json"
    file.write_bytes(as_json([chatgpt(f"c{number}", [node("a", None, "user", "x")]) for number in range(3)]))
    with monkeypatch.context() as patch:
        patch.setattr(Command, "_say_progress", lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(CommandError, match="Give the same command again") as stopped:
            run(file, "--user", "alice@example.org")
    assert stopped.value.returncode == 130
    assert (Conversation.objects.count(), ConversationImport.objects.get().state) == (1, "cancelled")
    assert run(file, "--user", "alice@example.org")[-1] == "3 of 3 messages taken"
    assert Conversation.objects.count() == 3


def test_who_is_not_there_may_not_chat_or_has_no_file_is_told(tmp_path):
    with pytest.raises(CommandError, match="No account"):
        run("x", "--user", "bob@example.org")
    alice = make_user("alice")
    with pytest.raises(CommandError, match="No such file"):
        run(tmp_path / "none.json", "--user", alice.email)
    Limits.objects.create(user=alice, messages_per_minute=0)
    with pytest.raises(CommandError):
        run(tmp_path / "none.json", "--user", alice.email)
