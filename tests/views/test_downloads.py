"""A file is handed out to be saved, as it came in: whatever is in it, no browser shows it as a page of this site."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient
from django.urls import reverse

from tests.support.documents import add
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db(transaction=True)  # pieces are read in threads of their own
HOSTILE = {
    "html": b"<!doctype html><script>alert(document.cookie)</script>",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "polyglot": b"GIF89a/*<script>*/=0;alert(1)//</script>%PDF-1.7",
    "binary": bytes(range(256)) * 10_000,  # more than one piece
}


@pytest.fixture
def alice():
    return make_user("alice")


def downloaded(user, name, content):
    """Return the response to a download of a file, and its body."""
    document = add(user, begin(user), name, content)
    address = [document.conversation.public_id, document.public_id]
    return async_to_sync(_download)(user, reverse("conversations:download_conversation_document", args=address))


async def _download(user, path):
    client = AsyncClient()
    await client.aforce_login(user)
    response = await client.get(path)
    return response, b"".join([piece async for piece in response.streaming_content])


@pytest.mark.parametrize("content", HOSTILE.values(), ids=list(HOSTILE))
def test_a_file_comes_back_byte_by_byte_and_as_nothing_that_could_run(alice, content):
    response, body = downloaded(alice, "page.html", content)
    assert body == content
    assert response["Content-Length"] == str(len(content))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == 'attachment; filename="page.html"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private, no-store"
    assert response.headers["Content-Security-Policy"] == (
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"
    )
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize(
    ("name", "disposition"),
    [
        ("../../etc/passwd", 'attachment; filename="passwd"'),
        ("a\x00b.txt", 'attachment; filename="ab.txt"'),
        ('a"; filename="b.exe', 'attachment; filename="a\\"; filename=\\"b.exe"'),
        ("a\r\nSet-Cookie: x=y", 'attachment; filename="aSet-Cookie: x=y"'),
        ("photo\u202egpj.exe", 'attachment; filename="photogpj.exe"'),
        ("Übung 字.pdf", "attachment; filename*=utf-8''%C3%9Cbung%20%E5%AD%97.pdf"),
        ("", 'attachment; filename="document"'),
        ("x" * 300 + ".pdf", f'attachment; filename="{"x" * 251}.pdf"'),
    ],
)
def test_its_name_is_a_name_and_nothing_else(alice, name, disposition):
    response, _ = downloaded(alice, name, b"words")
    assert response["Content-Disposition"] == disposition
