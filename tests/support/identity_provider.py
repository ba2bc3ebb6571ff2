"""A small OpenID Connect provider, in a thread of the test: its people, its page with a button, its faults."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID = "windowseat"
CLIENT_SECRET = "the secret that provider and site share"
LIFE_SECONDS = 300
KEY_ID = "key-1"


@dataclass(frozen=True)
class Person:
    """A person who has an account there; *claims* are said beside the subject."""

    subject: str
    claims: dict[str, Any]


def person(subject: str, email: str | None = None, *, verified: Any = True, name: str = "") -> Person:
    claims = {"email": email, "email_verified": verified, "name": name}
    return Person(subject, {key: value for key, value in claims.items() if value is not None})


@dataclass
class IdentityProvider:
    """What it does: *person* signs in at its page, *fault* is what it does wrong, *requests* are those it had."""

    address: str = ""
    person: Person = field(default_factory=lambda: person("ada", "ada@example.org"))
    fault: str = ""
    requests: list[str] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    _key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def discovery(self) -> dict[str, Any]:
        paths = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        endpoints = {f"{name}_endpoint": f"{self.address}/{path}" for name, path in paths.items()}
        return {"issuer": self.address, "jwks_uri": f"{self.address}/keys", **endpoints}

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
        return {"keys": [{**public, "kid": KEY_ID, "use": "sig", "alg": "RS256"}]}

    def send_back(self, asked: dict[str, str], *, cancelled: bool = False) -> str:
        """Return the address that the person goes back to."""
        if cancelled or self.fault == "access_denied":
            return f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
        code = secrets.token_urlsafe()
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, posted: dict[str, str]) -> dict[str, Any] | None:
        """Return the tokens for a code that was not used before, or None for anything that is not right."""
        asked = self._codes.pop(posted.get("code", ""), None)
        if asked is None or posted.get("client_secret") != CLIENT_SECRET:
            return None
        challenge = base64.urlsafe_b64encode(hashlib.sha256(posted.get("code_verifier", "").encode()).digest())
        if asked["code_challenge"] != challenge.rstrip(b"=").decode() or asked["code_challenge_method"] != "S256":
            return None
        return {"access_token": "an access token", "token_type": "Bearer", "id_token": self.id_token(asked["nonce"])}

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT_ID, "iat": now, "exp": now + LIFE_SECONDS, "nonce": nonce}
        told = {} if self.fault in ("email in userinfo", "userinfo of another") else self.person.claims
        claims |= {"sub": self.person.subject, **told, **self._when(now)}
        claims |= {
            "wrong nonce": {"nonce": "another"},
            "wrong issuer": {"iss": "https://evil.example"},
            "wrong audience": {"aud": "another site"},
            "expired": {"iat": now - 2 * LIFE_SECONDS, "exp": now - LIFE_SECONDS},
        }.get(self.fault, {})
        if self.fault == "no signature":
            return jwt.encode(claims, "", algorithm="none", headers={"kid": KEY_ID})
        if self.fault == "secret signature":
            return jwt.encode(claims, CLIENT_SECRET, algorithm="HS256", headers={"kid": KEY_ID})
        key = rsa.generate_private_key(65537, 2048) if self.fault == "wrong signature" else self._key
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": KEY_ID})

    def _when(self, now: int) -> dict[str, int]:
        """Return when the person signed in there: now, or an hour ago where it takes its own session for that."""
        return {} if self.fault == "no auth_time" else {"auth_time": now - 3_600 if self.fault == "silent" else now}

    def userinfo(self) -> dict[str, Any]:
        subject = "another" if self.fault == "userinfo of another" else self.person.subject
        return {"sub": subject, **self.person.claims}

    def page(self, asked: dict[str, str]) -> str:
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in asked.items()
        )
        buttons = '<button>Sign in</button> <button name="cancel" value="yes">Cancel</button>'
        return f'<!doctype html><h1>Provider</h1><form method="post" action="/authorize">{hidden}{buttons}</form>'


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, provider: IdentityProvider) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.provider = provider
        provider.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        provider, url = self.server.provider, urlsplit(self.path)
        provider.requests.append(url.path)
        if url.path == "/authorize":
            self.answer(provider.page(_flat(url.query)), "text/html")
        elif provider.fault == "slow":
            provider.stopping.wait(LIFE_SECONDS)
        elif provider.fault == "down":
            self.send_error(503)
        elif provider.fault == "redirects" and not url.path.startswith("/elsewhere"):
            self.send_response(302)
            self.send_header("Location", f"/elsewhere{url.path}")
            self.end_headers()
        elif provider.fault == "nonsense":
            self.answer("<p>no JSON</p>", "text/html")
        else:
            pages = {"/keys": provider.keys, "/userinfo": provider.userinfo}
            self.answer_json(pages.get(url.path.removeprefix("/elsewhere"), provider.discovery)())

    def do_POST(self) -> None:
        posted = _flat(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.provider.requests.append(self.path)
        if self.path == "/authorize":
            self.send_back(posted)
        else:
            self.answer_json(self.server.provider.token(posted) or {"error": "invalid_grant"})

    def send_back(self, posted: dict[str, str]) -> None:
        cancelled = bool(posted.pop("cancel", ""))
        self.send_response(302)
        self.send_header("Location", self.server.provider.send_back(posted, cancelled=cancelled))
        self.end_headers()

    def answer_json(self, content: dict[str, Any]) -> None:
        self.answer(json.dumps(content), "application/json", 400 if "error" in content else 200)

    def answer(self, content: str, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing: what was asked is in `requests`."""


def _flat(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}


@contextmanager
def running_identity_provider(**settings: Any):
    """Yield a provider that answers on the loopback."""
    provider = replace(IdentityProvider(), **settings)
    server = Server(provider)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield provider
    finally:
        provider.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
