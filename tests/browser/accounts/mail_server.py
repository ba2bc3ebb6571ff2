"""A mail server in a thread of the test, on the loopback: it keeps what it is sent."""

from __future__ import annotations

import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

from tests.support.patience import PATIENCE_SECONDS


class MailServer(socketserver.ThreadingTCPServer):
    """The mails so far, oldest first."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self._mails: list[EmailMessage] = []
        self._arrived = threading.Condition()

    @property
    def url(self) -> str:
        return f"smtp+plain://127.0.0.1:{self.server_address[1]}"

    def take(self, mail: EmailMessage) -> None:
        with self._arrived:
            self._mails.append(mail)
            self._arrived.notify_all()

    def wait_for(self, address: str, *, about: str) -> EmailMessage:
        """Return the newest mail to *address* with *about* in its subject."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self._find(address, about), PATIENCE_SECONDS), f"no mail to {address}"
            return self._find(address, about)[-1]

    def link_for(self, address: str, *, about: str) -> str:
        return re.search(r"http://\S+", self.wait_for(address, about=about).get_content())[0]

    def _find(self, address: str, about: str) -> list[EmailMessage]:
        return [mail for mail in self._mails if mail["To"] == address and about in mail["Subject"]]


class _Session(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as a client needs to hand over a mail."""

    server: MailServer

    def handle(self) -> None:
        self.say("220 here")
        for line in self.rfile:
            command = line[:4].upper()
            if command == b"DATA":
                self.say("354 go on")
                self.server.take(message_from_bytes(self.read_mail(), policy=policy.default))
            self.say("221 bye" if command == b"QUIT" else "250 ok")
            if command == b"QUIT":
                return

    def read_mail(self) -> bytes:
        lines = iter(self.rfile.readline, b".\r\n")
        return b"".join(line[1:] if line.startswith(b".") else line for line in lines)

    def say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


@contextmanager
def running_mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
