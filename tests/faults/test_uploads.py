"""Requests of any size: what is too much is refused before it is on the disk or in the memory, and said in words."""

from __future__ import annotations

import http.client
import json
import select
import socket
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_SECONDS

GIGABYTE = 10**9
PIECE = b"x" * 2**20
MEGABYTES = 2  # of one document at the site of these tests, so 10 in one request
MOST_WRITTEN = 40 * 10**6  # the largest request, kept twice by Django, and all else
MOST_MEMORY_MB = 60
HALF_SENT = 10  # more than one user's turns
BOUNDARY = "boundary"
HEAD = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="big.txt"\r\n'
    "Content-Type: text/plain\r\n\r\n"
).encode()
TAIL = f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.fixture(scope="module")
def running(make_site):
    """A site with small documents, and its process."""
    with make_site(DOCUMENT_MEGABYTES=str(MEGABYTES)) as site:
        yield site, site.serve()


@pytest.fixture
def sender(running):
    return Sender(*running)


class Sender:
    """A visitor, signed in or not, who sends bodies of any size to where documents are added."""

    def __init__(self, site, process):
        self.site, self.process = site, process
        self.browser = site.browser
        self.path = f"/c/{uuid.uuid4()}/documents/add/"
        self.port = int(site.settings["PORT"])

    def send(self, body, *, path="", signed_in=True, **headers):
        """POST what *body* yields until the site wants no more; return the answer and its JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        connection.putrequest("POST", path or self.path)
        cookies = {"Cookie": self.browser.cookie_header, "X-CSRFToken": self.browser.cookies["csrftoken"]}
        sent = {"Accept": "application/json", "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        for name, value in (sent | (cookies if signed_in else {}) | headers).items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        _send_all(connection.sock, body)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        return answer, told

    def written(self):
        """Return how many bytes the process has written so far, to files and sockets."""
        counters = Path(f"/proc/{self.process.process.pid}/io").read_text()
        return int(counters.partition("wchar: ")[2].split()[0])


def _send_all(connection: socket.socket, body: Iterator[bytes]) -> None:
    """Send until all is sent, the other side answers, or it has gone."""
    with suppress(OSError):
        for piece in body:
            if select.select([connection], [], [], 0)[0]:
                return
            connection.sendall(piece)


def file_of(size):
    yield HEAD
    for _ in range(size // len(PIECE)):
        yield PIECE
    yield TAIL


def length_of(size):
    return str(len(HEAD) + size // len(PIECE) * len(PIECE) + len(TAIL))


def send_for_ever(connection):
    while True:
        connection.sendall(PIECE)


def in_chunks(body):
    for piece in body:
        yield b"%x\r\n%s\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


@contextmanager
def bounded(sender, most_written=MOST_WRITTEN):
    """What is done meanwhile takes little of the server's disk and memory."""
    written, memory_mb = sender.written(), sender.process.memory_mb
    yield
    assert sender.written() - written < most_written
    assert sender.process.memory_mb - memory_mb < MOST_MEMORY_MB


def kept(sender):
    return sender.site.database.value("SELECT count(*) FROM conversations_document")


def test_a_gigabyte_that_says_so_is_refused_before_any_of_it_is_read(sender):
    with bounded(sender, most_written=10**6):
        answer, told = sender.send(file_of(GIGABYTE), Content_Length=length_of(GIGABYTE))
    assert (answer.status, told["code"]) == (413, "files_too_large")
    assert told["message"] == "More than 10 MB can’t be sent at once. Send fewer files, or smaller ones."
    assert answer.headers["Connection"] == "close"


def test_a_gigabyte_that_does_not_say_so_is_refused_where_it_gets_too_much(sender):
    with bounded(sender):
        answer, told = sender.send(in_chunks(file_of(GIGABYTE)), Transfer_Encoding="chunked")
    assert (answer.status, told["code"]) == (413, "files_too_large")
    assert answer.headers["Connection"] == "close"


def test_elsewhere_less_is_too_much(sender):
    path = f"/c/{uuid.uuid4()}/summary/"
    with bounded(sender, most_written=10**6):
        answer, told = sender.send(file_of(9 * 2**20), path=path, Content_Length=length_of(9 * 2**20))
    assert (answer.status, told["code"]) == (413, "request_too_large")


def test_who_is_not_signed_in_sends_no_files(sender):
    with bounded(sender, most_written=10**6):
        answer, told = sender.send(file_of(9 * 2**20), signed_in=False, Content_Length=length_of(9 * 2**20))
    assert (answer.status, told["code"]) == (401, "sign_in_required")


def test_a_file_that_is_larger_than_a_document_may_be_is_refused_by_itself(sender):
    before = kept(sender)
    answer, told = sender.send(file_of(3 * 2**20), Content_Length=length_of(3 * 2**20))
    assert (answer.status, told["code"]) == (413, "document_too_large")
    assert kept(sender) == before


def test_ten_thousand_files_in_one_request_are_refused_in_words(sender):
    body = b"\r\n".join(HEAD + b"x" for _ in range(10_000)) + TAIL
    with bounded(sender):
        answer, told = sender.send(iter([body]), Content_Length=str(len(body)))
    assert (answer.status, told["code"]) == (413, "files_too_many")


def test_who_goes_on_sending_is_cut_off(sender):
    """A visitor who only sends reads nothing of the answer: they are given a moment, and no more."""
    with bounded(sender), socket.create_connection(("127.0.0.1", sender.port)) as connection:
        head = f"POST {sender.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {10**15}\r\n\r\n"
        connection.sendall(head.encode())
        connection.settimeout(PATIENCE_SECONDS)
        with pytest.raises(ConnectionError):
            send_for_ever(connection)


def test_forms_whose_bodies_do_not_come_keep_no_page_of_their_user_waiting(sender):
    cookies = sender.browser.cookie_header
    head = f"POST /usage/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookies}\r\nContent-Length: 9\r\n\r\na"
    with ExitStack() as opened:
        forms = []
        for _ in range(HALF_SENT):
            forms.append(opened.enter_context(socket.create_connection(("127.0.0.1", sender.port))))
            forms[-1].sendall(head.encode())
        status, _ = sender.browser.request("/usage/")
        assert status == 200
        answered, _, _ = select.select(forms, [], [], 0)
        assert not answered, "the page has waited until they were refused"


def test_after_all_that_a_document_is_added(sender):
    answer, told = sender.send(file_of(2**20), Content_Length=length_of(2**20))
    assert answer.status == 201
    assert told["documents"][0]["created"]
