"""Log lines: as JSON or for a console, with ids of what they are about, and never with words."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from django.test import Client
from structlog.contextvars import bound_contextvars

from chatsite.configuration.logs import WithoutTraceback, line_formatter
from tests.faults.conftest import UNEXPECTED

SECRET = "the words of a message"


def record(event, *arguments, **extra):
    return logging.getLogger("conversations.runs").makeRecord(
        "conversations.runs", logging.WARNING, __file__, 1, event, arguments, None, extra=extra
    )


def line_as(log_format, event="reply %d failed", *arguments, **extra):
    return line_formatter(log_format=log_format).format(record(event, *arguments or (7,), **extra))


def test_a_line_of_json_has_the_event_and_the_ids_of_its_context():
    with bound_contextvars(reply_id=7, user_id=3):
        line = json.loads(line_as("json", error_code="rate_limited"))
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "reply 7 failed",
        "level": "warning",
        "logger": "conversations.runs",
        "reply_id": 7,
        "user_id": 3,
        "error_code": "rate_limited",
    }


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_field_carries_words(log_format):
    with bound_contextvars(question=SECRET):
        line = line_as(log_format, content=SECRET, reply_id=9)
    assert SECRET not in line
    assert "9" in line


def test_a_line_for_a_console_is_one_line_with_its_ids():
    line = line_as("console", reply_id=7)
    assert "reply 7 failed" in line
    assert "reply_id=7" in line
    assert "\n" not in line


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_line_break_in_an_event_begins_no_line_of_its_own(log_format):
    line = line_as(log_format, "refused: %s", "bad\n2026-11-25T00:00:00Z [error    ] the site was taken over")
    assert "\n" not in line


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_control_character_reaches_a_terminal(log_format):
    line = line_as(log_format, "refused: %s", "\x1b[31mred", path="/\x1b[2J")
    assert "\x1b" not in line


def test_what_an_exception_says_begins_no_line_of_its_own():
    try:
        raise ValueError("bad\n2026-11-25T00:00:00Z [error    ] the site was taken over\x1b[2J")
    except ValueError:
        refused = record("refused")
        refused.exc_info = sys.exc_info()
    first, *others = line_formatter(log_format="console").format(refused).split("\n")
    assert "refused" in first
    assert "the site was taken over" in others[-1]
    assert all(line.startswith("  ") for line in others)
    assert "\x1b" not in others[-1]
    assert UNEXPECTED.search(f"before\n{first}\n" + "\n".join(others)), "tests of faults see that it stands there"


@pytest.mark.django_db
def test_each_answer_names_its_own_request(client):
    first, second = (client.get("/accounts/login/", headers={"X-Request-Id": "mine"}) for _ in range(2))
    assert len({first["X-Request-Id"], second["X-Request-Id"], "mine"}) == 3


def test_a_host_that_is_not_ours_is_one_line_without_a_traceback(client, caplog):
    with caplog.at_level(logging.ERROR):
        assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    [refused] = [each for each in caplog.records if each.name == "django.security.DisallowedHost"]
    assert WithoutTraceback().filter(refused)
    line = line_formatter(log_format="console").format(refused)
    assert "evil.example" in line
    assert "\n" not in line


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_the_token_of_a_share_is_in_no_line(log_format):
    token = "Zm9vYmFyYmF6cXV1eC1fX18xMjM0NTY3"
    line = line_as(log_format, "Forbidden (%s): %s", "CSRF", f"/s/{token}/continue/", path=f"/s/{token}/")
    assert token not in line
    assert "/s/…/continue/" in line


@pytest.mark.django_db
def test_a_form_of_a_share_that_is_refused_leaves_no_token(caplog):
    """Django writes the address before the page is asked."""
    token = "Zm9vYmFyYmF6cXV1eC1fX18xMjM0NTY3"
    refused = Client(enforce_csrf_checks=True).post(f"/s/{token}/continue/")
    assert refused.status_code == 403
    lines = [line_formatter(log_format="json").format(each) for each in caplog.records]
    assert any("/continue/" in each for each in lines)
    assert not any(token in each for each in lines)
