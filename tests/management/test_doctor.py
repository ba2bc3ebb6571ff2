"""`manage.py doctor`: its lines, its checks against real servers that are well or wrong, and the command itself."""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
import smtplib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.management import CommandError, call_command
from django.core.signing import TimestampSigner
from django.db import connection
from psycopg.errors import DiskFull

from chatsite.accounts.second_factors.secret_encryption import encrypt_secret
from chatsite.checkup import Line, hide_secrets, line_as_text, lines_as_json
from chatsite.configuration.env import Environment
from chatsite.health.seen_request import ADDRESS, DOCTOR_HEADER, make_doctor_token
from chatsite.version import product_version
from conversations.management.commands.doctor import all_secrets
from conversations.management.doctor import backups, clocks, database, disks, mail, proxy, redis, secret_keys, workers
from conversations.management.doctor.checks import CHECKS, Check, run_checks
from conversations.management.doctor.options import Options
from conversations.management.doctor.provider import check_provider, judge_models
from conversations.management.doctor.sandbox import check_sandbox
from conversations.management.doctor.setting_values import check_settings
from conversations.models import McpServer
from conversations.providers.clients.model_list import ModelList
from conversations.services.backups.backup_schedule import claim_scheduled_backup, note_failed_backup
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post
from tests.support.ports import free_port
from tests.support.source import PROJECT
from tests.support.upstream import serve_upstream

LOOK = Options()


def states(lines):
    return [line.state for line in lines]


# Lines


def test_a_line_has_its_state_as_a_word_and_what_to_do_below_it():
    line = Line("bad", "redis", "It does not answer " * 5, "Start it.")
    text = line_as_text(line, columns=60)
    assert text.startswith("bad   redis        It does")
    assert text.endswith("\n" + " " * 19 + "→ Start it.")
    assert "\033" not in text
    assert "\033[31m" in line_as_text(line, columns=60, has_colours=True)


def test_json_has_all_lines_and_the_worst_state():
    found = json.loads(lines_as_json([Line("ok", "a", "Well."), Line("look", "b", "So so.", "See.")]))
    assert found["state"] == "look"
    assert found["lines"][1] == {"state": "look", "subject": "b", "text": "So so.", "advice": "See."}


def test_no_line_repeats_a_secret_or_breaks(settings):
    settings.ENV = Environment({"DATABASE_URL": "postgres://site:pass%21word@db/chats", "SHORT": "on"})
    settings.ENV.secret("DATABASE_URL", help="Database.")
    said = "postgres://site:pass%21word@db/chats: pass!word\n\033[2J is on, and so is " + settings.SECRET_KEY
    [line] = hide_secrets([Line("bad", "a", said, said)], all_secrets())
    assert line.text == line.advice == "…: … [2J is on, and so is …"


def test_a_password_is_hidden_wherever_an_address_has_it(settings):
    settings.ENV = Environment({"DATABASE_URL": "postgres://site@db/chats?password=pass%21word&sslpassword=key+word"})
    settings.ENV.secret("DATABASE_URL", help="Database.")
    settings.OPENAI_BASE_URL = "https://ada:s3cret@models.example.net/v1"
    [line] = hide_secrets([Line("bad", "a", "pass!word, pass%21word, key word, s3cret")], all_secrets())
    assert line.text == "…, …, …, …"


# Running


def test_a_check_that_fails_or_hangs_stops_no_other():
    def fail(options):
        yield Line("ok", "half", "This was found before.")
        raise RuntimeError("no such thing")

    over = threading.Event()
    checks = {
        "hanging": Check(lambda options: over.wait(), 0.05),
        "failing": Check(fail, 5),
        "well": Check(lambda options: [Line("ok", "well", "Well.")], 5),
        "other": Check(fail, 5),
    }
    hanging, failing, well = run_checks(["hanging", "failing", "well"], LOOK, checks)
    over.set()
    assert (hanging[0].state, hanging[0].text) == ("bad", "There was no answer within 0.05 seconds.")
    assert states(failing) == ["ok", "bad"]
    assert failing[1].text == "This could not be looked at (RuntimeError): no such thing"
    assert states(well) == ["ok"]


def doctor(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "manage.py", "doctor", *arguments],
        cwd=PROJECT,
        env={**os.environ, "ENV_FILE": os.devnull, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )


def test_a_setting_that_can_t_be_read_is_the_one_bad_line(tmp_path):
    said = doctor("--json", PORT="many", VAR_DIR=str(tmp_path))
    assert said.returncode == 1
    [line] = json.loads(said.stdout)["lines"]
    assert (line["state"], line["subject"]) == ("bad", "settings")
    assert "PORT must be a whole number" in line["text"]
    assert not said.stderr


def test_a_subject_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(CommandError, match=r"There is no subject disk\. These are: settings, .* disks,"):
        call_command("doctor", "disk")


def test_a_database_that_is_away_is_one_bad_line_and_its_password_is_in_none(tmp_path):
    url = f"postgres://site:hidden-word@127.0.0.1:{free_port()}/chats"
    parts = ("database", "workers", "backups", "clocks", "mcp-servers", "disks")
    said = doctor(*parts, VAR_DIR=str(tmp_path), DATABASE_URL=url, BACKUP_EVERY_HOURS="24", DATABASE_WAIT_SECONDS="1")
    assert said.returncode == 1
    assert [line.split()[:2] for line in said.stdout.splitlines() if line.startswith("bad ")] == [["bad", "database"]]
    assert "can't be reached" in said.stdout
    assert "hidden-word" not in said.stdout + said.stderr
    assert "Traceback" not in said.stderr


def test_to_look_makes_no_database(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "embedded_folder", lambda: tmp_path / "postgres")
    for check in (database.check_database, workers.check_workers):
        assert states(check(LOOK)) == ["look"]
    assert not list(tmp_path.iterdir())


# The site's own parts


def test_names_and_values_of_settings_are_told(settings):
    assert states(check_settings(LOOK)) == ["ok"]
    settings.ENV = Environment({"ANSWERS": "5"})
    settings.ENV.integer("REPLIES", default=1, formerly="ANSWERS", help="Replies.")
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "my-own-model"
    name, model = check_settings(LOOK)
    assert (name.state, model.state) == ("look", "bad")
    assert "ANSWERS is called REPLIES now" in name.text
    assert "context_window=" in model.text


@pytest.mark.django_db
def test_short_and_open_secrets_are_told(settings, tmp_path):
    settings.VAR_DIR = folder = tmp_path / "my site"
    folder.mkdir()
    assert states(secret_keys.check_secrets(LOOK)) == ["ok"]
    (folder / "secret_key").touch(mode=0o644)
    settings.SECRET_KEY = "short"
    length, file = secret_keys.check_secrets(LOOK)
    assert (length.state, file.state) == ("bad", "bad")
    assert file.advice == f"chmod 600 '{folder / 'secret_key'}'"


@pytest.mark.django_db
def test_another_secret_key_than_before_is_told_by_what_it_can_t_read(settings):
    sealed = encrypt_secret("Bearer abc")
    McpServer.objects.create(name="away", url="https://mcp.example.org", sealed_authorization=sealed)
    assert states(secret_keys.check_secrets(LOOK)) == ["ok"]
    settings.SECRET_KEY = "another" * 10
    [line] = secret_keys.check_secrets(LOOK)
    assert line.state == "bad"
    assert "1 of MCP servers" in line.text
    assert "restore BACKUP --show-secret-key" in line.advice
    fresh = encrypt_secret("Bearer def")
    McpServer.objects.create(name="new", url="https://new.example.org", sealed_authorization=fresh)
    [line] = secret_keys.check_secrets(LOOK)
    assert (line.state, "earlier SECRET_KEY" in line.text) == ("look", True)
    McpServer.objects.filter(name="away").update(enabled=False)
    assert states(secret_keys.check_secrets(LOOK)) == ["ok"]


def test_a_full_disk_asks_for_room_and_one_of_others_for_its_owner(settings, tmp_path, monkeypatch):
    settings.VAR_DIR, settings.BACKUP_FOLDER = tmp_path, tmp_path / "none"
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    for code, words in ((errno.ENOSPC, "Make room"), (errno.EACCES, "belong to the account")):
        error = OSError(code, os.strerror(code))

        def refuse(error=error, **options):
            raise error

        monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
        line = next(iter(disks.check_disks(LOOK)))
        assert (line.state, words in line.advice) == ("bad", True)


def test_a_database_whose_disk_is_full_says_so_and_what_to_do(monkeypatch):
    def refuse():
        raise DiskFull("could not write to file: No space left on device")

    monkeypatch.setattr(database, "is_still_to_be_made", lambda: False)
    monkeypatch.setattr(database, "check_databases", lambda databases: [])
    monkeypatch.setattr(database, "connect_briefly", refuse)
    [line] = database.check_database(LOOK)
    assert (line.state, line.text) == ("bad", "The database's disk is full.")
    assert line.advice.startswith("Make room")


def test_data_of_another_account_say_so(monkeypatch, tmp_path):
    def refuse():
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(database, "is_still_to_be_made", refuse)
    monkeypatch.setattr(database, "embedded_folder", lambda: tmp_path)
    [line] = database.check_database(LOOK)
    assert line.text == f"The data in {tmp_path} can't be read: Permission denied."


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_well_says_so_and_one_without_its_schema_what_to_do():
    assert states(database.check_database(LOOK)) == ["ok", "ok", "ok"]
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE conversations_backupschedule RENAME failure TO other")
    try:
        [schema] = [line for line in database.check_database(LOOK) if line.state == "bad"]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE conversations_backupschedule RENAME other TO failure")
    assert "conversations_backupschedule" in schema.text


@pytest.mark.django_db(transaction=True)
def test_a_reply_that_waits_without_a_worker_is_bad():
    post(begin(make_user("alice")), "Hello")
    [line] = workers.check_workers(LOOK)
    assert (line.state, "1 replies wait" in line.text) == ("bad", True)


@pytest.mark.django_db(transaction=True)
def test_a_site_without_worker_and_with_a_failed_backup_says_so(settings, tmp_path):
    settings.BACKUP_EVERY_HOURS, settings.BACKUP_FOLDER = 24, tmp_path
    assert states(workers.check_workers(LOOK)) == ["look"]
    assert next(iter(backups.check_backups(LOOK))).state == "look"  # none yet
    claim_scheduled_backup(every=dt.timedelta(hours=24))
    note_failed_backup("disk full")
    failed = next(iter(backups.check_backups(LOOK)))
    assert (failed.state, "The last scheduled backup failed" in failed.text) == ("bad", True)


def test_an_old_backup_by_hand_is_told_with_its_age(settings, tmp_path):
    settings.BACKUP_FOLDER = tmp_path
    none, _ = backups.check_backups(LOOK)
    (tmp_path / "windowseat-1.backup").touch()
    os.utime(tmp_path / "windowseat-1.backup", (time.time() - 9 * 86_400,) * 2)
    old, _ = backups.check_backups(LOOK)
    assert (none.state, old.state) == ("look", "look")
    assert "9.0 days old" in old.text
    os.utime(tmp_path / "windowseat-1.backup", (time.time() + 86_400,) * 2)
    ahead, _ = backups.check_backups(LOOK)
    assert (ahead.state, "has not come yet" in ahead.text) == ("look", True)


def test_a_folder_that_can_t_be_written_to_is_bad(settings, tmp_path):
    settings.VAR_DIR = tmp_path / "none"
    folders = list(disks.check_disks(LOOK))
    assert folders[0].state == "bad"
    assert "can't be written to: No such file or directory" in folders[0].text


@pytest.mark.django_db(transaction=True)
def test_a_clock_that_is_wrong_is_told_by_how_much(monkeypatch):
    assert states(clocks.check_clocks(LOOK)) == ["ok"]
    there = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=2)
    monkeypatch.setattr(clocks, "CLOCKS", {"another": lambda: there})
    [line] = clocks.check_clocks(LOOK)
    assert line.state == "bad"
    assert line.text.startswith("This machine's clock is 1")
    assert "behind that of another" in line.text


def test_the_sandbox_of_this_system_is_tried():
    [line] = check_sandbox(LOOK)
    assert line.state in ("ok", "look")
    assert "could not" not in line.text


# Redis


def test_no_redis_is_well_where_one_process_does_all(settings):
    assert states(redis.check_redis(LOOK)) == ["ok"]
    settings.RUN_WORKER = False
    assert states(redis.check_redis(LOOK)) == ["look"]


def test_a_redis_that_does_not_answer_is_bad(settings):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    [line] = redis.check_redis(LOOK)
    assert "does not answer" in line.text


@pytest.mark.redis
def test_password_and_rights_in_redis_are_told_apart(settings, redis_server_path, tmp_path):
    port = free_port()
    command = [redis_server_path, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen([*command, "--requirepass", "right"], stdout=subprocess.PIPE, text=True)
    try:
        next(line for line in server.stdout if "Ready to accept" in line)
        settings.REDIS_URL = f"redis://:wrong@127.0.0.1:{port}/0"
        [wrong] = redis.check_redis(LOOK)
        settings.REDIS_URL = f"redis://:right@127.0.0.1:{port}/0"
        right = list(redis.check_redis(LOOK))
        import redis as package

        with package.Redis.from_url(settings.REDIS_URL) as client:
            client.acl_setuser("narrow", enabled=True, passwords=["+narrow"], commands=["+ping"], channels=[])
        settings.REDIS_URL = f"redis://narrow:narrow@127.0.0.1:{port}/0"
        [narrow] = redis.check_redis(LOOK)
    finally:
        server.terminate()
        server.communicate()
    assert "refuses the user or password" in wrong.text
    assert states(right) == ["ok"]
    assert "windowseat*" in narrow.advice


# Mail


@contextmanager
def mail_server(*, takes_password):
    """Serve one connection of SMTP on a port of this machine; yields that and the mails that came."""
    listener = socket.create_server(("127.0.0.1", 0))
    mails: list[bytes] = []

    def serve():
        connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as talk:

            def say(line):
                talk.write(line + b"\r\n")
                talk.flush()

            say(b"220 mail")
            for line in talk:
                word = line[:4].upper()
                if word == b"EHLO":
                    say(b"250-mail\r\n250 AUTH PLAIN")
                elif word == b"AUTH":
                    say(b"235 well" if takes_password else b"535 no")
                elif word == b"DATA":
                    say(b"354 go on")
                    mails.append(b"".join(iter(talk.readline, b".\r\n")))
                    say(b"250 taken")
                else:
                    say(b"221 bye" if word == b"QUIT" else b"250 ok")

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1], mails
    thread.join()
    listener.close()


def set_mail(settings, port):
    settings.SMTP_URL = f"smtp+plain://user:word@127.0.0.1:{port}"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "user", "word"
    settings.DEFAULT_FROM_EMAIL = "chat@example.org"


@pytest.mark.parametrize(("takes_password", "state"), [(True, "ok"), (False, "bad")])
def test_a_mail_server_is_asked_whether_it_takes_the_password(settings, takes_password, state):
    with mail_server(takes_password=takes_password) as (port, mails):
        set_mail(settings, port)
        [line] = mail.check_mail(LOOK)
    assert not mails
    assert line.state == state
    assert ("refuses the user or password" in line.text) is not takes_password


def test_a_mail_is_sent_where_one_was_asked_for(settings):
    with mail_server(takes_password=True) as (port, mails):
        set_mail(settings, port)
        [line] = mail.check_mail(Options(mail_to="operator@example.org"))
    assert (line.state, "took a mail to operator@example.org" in line.text) == ("ok", True)
    assert b"To: operator@example.org" in mails[0]


def test_a_mail_server_that_is_away_is_bad_and_its_sender_is_looked_at(settings):
    set_mail(settings, free_port())
    settings.DEFAULT_FROM_EMAIL = "windowseat@localhost"
    sender, server = mail.check_mail(LOOK)
    assert (sender.state, server.state) == ("look", "bad")
    assert "takes no connection" in server.text


@pytest.mark.parametrize(
    "error",
    [
        smtplib.SMTPServerDisconnected("closed"),
        smtplib.SMTPNotSupportedError("STARTTLS"),
        smtplib.SMTPSenderRefused(550, b"not yours", "a@b"),
        smtplib.SMTPRecipientsRefused({}),
        smtplib.SMTPResponseException(451, "later"),
        ssl.SSLError("WRONG_VERSION_NUMBER"),
        socket.gaierror(-2, "not known"),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_each_fault_of_mail_has_advice_of_its_own(error):
    text, advice = mail._explain(error)
    assert text
    assert advice


# The provider


@contextmanager
def provider(answers, *, certificate=None):
    """Serve `path → (status, body)` on a port of this machine; 404 for the rest."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            is_known = "Authorization" not in self.headers or self.headers["Authorization"] == "Bearer right"
            status, body = answers.get(self.path, (404, "no such page")) if is_known else (401, "key wrong-key")
            self.send_response(status)
            if status == 308:
                self.send_header("Location", body)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


MODELS = (200, json.dumps({"data": [{"id": "gpt-4o-mini"}]}))
SET = "gpt-4o-mini context_window=1000 input_usd=0 output_usd=0"


def ask_provider(settings, url, *, key="right", models=SET, **options):
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = url, key, models
    return list(check_provider(Options(**options)))


@pytest.mark.parametrize(
    ("path", "answers", "key", "state", "said"),
    [
        ("/v1", {"/v1/models": MODELS}, "right", "ok", "lists 1 model."),
        ("/v1", {"/v1/models": MODELS}, "wrong-key", "bad", "refuses the key (401)"),
        ("", {"/v1/models": MODELS}, "right", "bad", "/v1 has"),
        ("/v1/chat/completions", {"/v1/models": MODELS}, "right", "bad", "/v1 has"),
        ("", {"/models": (200, "<html>")}, "right", "bad", "something else than OpenAI's API"),
        ("/v1", {}, "right", "look", "lists no models"),
        ("/v1", {"/v1/models": (401, "who?")}, "", "bad", "asks for a key"),
        ("/v1", {"/v1/models": (429, "slowly")}, "right", "look", "takes no more requests"),
        ("/v1", {"/v1/models": (502, "bad gateway")}, "right", "bad", "answers with 502: bad gateway"),
        ("/v1", {"/v1/models": (308, "https://user:word@other.example/v1")}, "right", "bad", "//other.example/v1"),
    ],
    ids=["well", "wrong key", "no v1", "whole path", "page", "no list", "no key", "limit", "broken", "redirect"],
)
def test_each_fault_of_a_provider_is_told_apart(settings, path, answers, key, state, said):
    with provider(answers) as port:
        first, *_ = ask_provider(settings, f"http://127.0.0.1:{port}{path}", key=key)
    assert first.state == state
    assert said in first.text
    assert bool(first.advice) == (state != "ok")
    assert not {"wrong-key", "word"} & set(first.text.replace("@", " ").split())


def test_a_provider_that_is_away_or_has_no_name_is_told(settings):
    refused, *_ = ask_provider(settings, f"http://127.0.0.1:{free_port()}/v1")
    address, *_ = ask_provider(settings, "ftp://127.0.0.1/v1")
    assert "takes no connection" in refused.text
    assert "is no address" in address.text


def test_a_provider_s_address_with_a_password_is_never_well(settings):
    with provider({"/v1/models": MODELS}) as port:
        found, *_ = ask_provider(settings, f"http://ada:s3cret@127.0.0.1:{port}/v1", key="")
    assert found.state == "bad"
    assert f"http://127.0.0.1:{port}/v1 is written with a user name or a password" in found.text
    assert "s3cret" not in found.text + found.advice


def test_faults_of_tls_are_told_apart(settings, tmp_path):
    certificate = tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other.example"]
    subprocess.run([*command, "-keyout", certificate, "-out", tmp_path / "public"], check=True, capture_output=True)
    with certificate.open("a") as file:
        file.write((tmp_path / "public").read_text())
    with provider({}, certificate=certificate) as port:
        untrusted, *_ = ask_provider(settings, f"https://127.0.0.1:{port}/v1")
    with provider({}) as port:
        plain, *_ = ask_provider(settings, f"https://127.0.0.1:{port}/v1")
    assert "certificate that is not trusted (self" in untrusted.text
    assert "does not speak TLS" in plain.text


def test_a_certificate_that_has_expired_is_its_operators_to_renew():
    answer = ModelList(fault="certificate", detail="certificate has expired")
    [line] = judge_models("https://models.example.net/v1", "sk-test", answer)
    assert "certificate has expired" in line.text
    assert line.advice.startswith("Its operator has to renew it")


def test_a_misspelt_model_and_an_unknown_price_are_told(settings):
    with provider({"/v1/models": MODELS}) as port:
        _, name, price, windows = ask_provider(
            settings, f"http://127.0.0.1:{port}/v1", models="gpt-4o-mimi context_window=1000"
        )
    assert name.advice == "Is gpt-4o-mini meant? Correct LANGUAGE_MODELS."
    assert "The price of gpt-4o-mimi is not known" in price.text
    assert windows.text == "Context windows in tokens: gpt-4o-mimi 1,000."


def test_tokens_are_asked_for_only_with_leave(settings):
    models = "ok context_window=1000 input_usd=0 output_usd=0"
    with serve_upstream() as upstream:
        ask_provider(settings, upstream.base_url, models=models)
        assert not [each for each in upstream.log() if each.get("model") == "ok"]
        *_, replied = ask_provider(settings, upstream.base_url, models=models, completes=True)
        *_, failed = ask_provider(
            settings, upstream.base_url, models=models.replace("ok", "status-401"), completes=True
        )
    assert replied.state == "ok"
    assert failed.state == "bad"
    assert failed.advice == "Set OPENAI_API_KEY to a key that may use this model."


# The proxy


def test_what_the_site_sees_is_told_to_the_doctor_alone(client):
    assert client.get(ADDRESS).status_code == 404
    assert client.get(ADDRESS, headers={DOCTOR_HEADER: TimestampSigner(salt="other").sign("doctor")}).status_code == 404
    answer = client.get(ADDRESS, headers={DOCTOR_HEADER: make_doctor_token(), "X-Forwarded-For": "192.0.2.1"})
    seen = answer.json()
    assert proxy.OURS in answer.headers
    assert seen["scheme"] == "http"
    assert seen["address"] == "127.0.0.1"
    assert seen["forwarded_for"] == "192.0.2.1"


def seen_by_site(**changes):
    seen = {"scheme": "https", "host": "chat.example.org", "address": "198.51.100.7", "version": product_version()}
    return {**seen, "forwarded_for": f"{proxy.CLAIMED}, 198.51.100.7", "forwarded_proto": "https", **changes}


@pytest.mark.parametrize(
    ("changes", "state", "advice"),
    [
        ({}, "ok", ""),
        ({"forwarded_for": "198.51.100.7"}, "ok", ""),
        ({"address": proxy.CLAIMED, "forwarded_for": f"{proxy.CLAIMED}, 10.0.0.5"}, "ok", ""),
        ({"scheme": "http", "forwarded_proto": ""}, "bad", "X-Forwarded-Proto $scheme"),
        ({"scheme": "http", "address": "10.9.9.9"}, "bad", "TRUSTED_PROXIES"),
        ({"host": "127.0.0.1:8000"}, "bad", "Host $http_host"),
        ({"address": proxy.CLAIMED}, "bad", "X-Forwarded-For"),
        ({"address": proxy.CLAIMED, "forwarded_for": proxy.CLAIMED}, "bad", "X-Forwarded-For"),
        ({"address": "10.9.9.9"}, "bad", "Add 10.9.9.9 to TRUSTED_PROXIES"),
        ({"address": "10.0.0.5", "forwarded_for": proxy.CLAIMED}, "look", "empty TRUSTED_PROXIES"),
        ({"address": "10.0.0.5", "forwarded_for": ""}, "bad", "X-Forwarded-For"),
        ({"version": "0.0"}, "look", "Start the site again"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_scheme_host_and_address_are_judged_by_what_the_site_sees(settings, changes, state, advice):
    settings.TRUSTED_PROXIES = ["10.0.0.0/24"]
    first, *_ = proxy.judge_seen(seen_by_site(**changes), url="https://chat.example.org")
    assert first.state == state
    assert advice in first.advice


def test_a_site_that_does_not_run_and_a_stranger_are_told_apart(settings):
    settings.SITE_URL = f"http://127.0.0.1:{free_port()}"
    [away] = proxy.check_proxy(LOOK)
    with provider({}) as port:
        [stranger] = proxy.check_proxy(Options(url=f"http://127.0.0.1:{port}"))
    assert away.state == "look"
    assert (stranger.state, "not by this site" in stranger.text) == ("bad", True)


def test_https_without_a_trusted_proxy_is_bad(settings):
    settings.SITE_SCHEME, settings.SITE_URL = "https", f"https://127.0.0.1:{free_port()}"
    first, *_ = proxy.check_proxy(LOOK)
    assert (first.state, "TRUSTED_PROXIES is empty" in first.text) == ("bad", True)


def test_every_check_says_how_long_it_may_take():
    assert all(check.seconds > 0 for check in CHECKS.values())
