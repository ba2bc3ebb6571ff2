"""The way to the site through its reverse proxy: what the running site sees of requests to its own address."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from ipaddress import ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from chatsite.checkup import Line
from chatsite.health.seen_request import ADDRESS, DOCTOR_HEADER, make_doctor_token
from chatsite.version import product_version
from conversations.views.http.body_limit import FORM_BYTES, most_megabytes

from .options import Options

SUBJECT = "proxy"
ANSWER_SECONDS = 8.0
BODY_SECONDS = 3.0  # a proxy that refuses a body by its announced size does so at once
CLAIMED = "192.0.2.77"  # for documentation alone: who claims to come from it must not be believed
OURS = "X-Request-Id"  # each answer of the site has it
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "d2luZG93c2VhdCBjaGVjaw==",
}


class SiteAnswer(NamedTuple):
    """*is_ours* tells whether the site gave it, and no proxy."""

    status: int
    is_ours: bool
    content: bytes
    location: str = ""


def check_proxy(options: Options) -> Iterator[Line]:
    if settings.SITE_SCHEME == "https" and not settings.TRUSTED_PROXIES:
        text = "SITE_URL is https and TRUSTED_PROXIES is empty, so the proxy that ends TLS is not believed."
        yield Line("bad", SUBJECT, text, "Set TRUSTED_PROXIES to its address, as the site sees it.")
    url = (options.url or settings.SITE_URL).rstrip("/")
    site = urlsplit(url)
    if site.scheme not in ("http", "https") or not site.hostname:
        yield Line("bad", SUBJECT, "--url is no address.", "Write it as https://chat.example.org")
        return
    try:
        yield from _ask_site(url)
    except ssl.SSLCertVerificationError as error:
        text = f"{url} has a certificate that is not trusted: {error.verify_message}."
        yield Line("bad", SUBJECT, text, "Renew it, or see that the proxy sends its whole chain.")
    except (OSError, http.client.HTTPException) as error:
        text = f"{url} can't be reached from here ({error}), so what the site sees of requests is not known."
        yield Line("look", SUBJECT, text, "Start the site, or give an address that leads to it: --url")


def _ask_site(url: str) -> Iterator[Line]:
    asked = _request(url, "GET", ADDRESS, {DOCTOR_HEADER: make_doctor_token(), "X-Forwarded-For": CLAIMED})
    seen = _object_from(asked.content) if asked.status == 200 else None
    if seen is None:
        yield _explain_stranger(url, asked)
        return
    yield from judge_seen(seen, url=url)
    yield _check_sockets(url)
    yield _check_body_size(url)


def _explain_stranger(url: str, answer: SiteAnswer) -> Line:
    if 300 <= answer.status < 400:
        return Line("bad", SUBJECT, f"{url} sends on to {answer.location}.", "Ask that one: --url, or SITE_URL.")
    if answer.is_ours:
        text = f"The site at {url} has another SECRET_KEY than this command, or its clock is a minute off."
        return Line("bad", SUBJECT, text, "Run the doctor with the site's own settings and VAR_DIR.")
    advice = "See that the proxy passes requests on to HOST and PORT of the site, and that the site runs."
    return Line("bad", SUBJECT, f"{url} answers with {answer.status}, and not by this site.", advice)


def judge_seen(seen: Mapping[str, str], *, url: str) -> Iterator[Line]:
    """Yield what is wrong with scheme, host and address, as the site *seen* them of a request to *url*."""
    site = urlsplit(url)
    problems = [*_judge_scheme(seen, site.scheme), *_judge_host(seen, site.netloc), *_judge_address(seen)]
    if seen.get("version") != product_version():
        text = f"The running site is version {seen.get('version')}, and this command is of {product_version()}."
        problems.append(Line("look", SUBJECT, text, "Start the site again after an update."))
    yield from problems
    if not problems:
        this = "" if seen["address"] == CLAIMED else f" (this one as {seen['address']})"
        text = f"The site at {url} sees its scheme, host and visitors as they are{this}."
        yield Line("ok", SUBJECT, text)


def _judge_scheme(seen: Mapping[str, str], scheme: str) -> Iterator[Line]:
    if seen["scheme"] == scheme:
        return
    text = f"The site takes requests to {scheme}:// for {seen['scheme']}://."
    if seen["forwarded_proto"] == scheme:
        yield Line("bad", SUBJECT, text, f"Add the proxy to TRUSTED_PROXIES; the site sees it as {seen['address']}.")
    else:
        advice = "Let the proxy set X-Forwarded-Proto; nginx: proxy_set_header X-Forwarded-Proto $scheme;"
        yield Line("bad", SUBJECT, text, advice)


def _judge_host(seen: Mapping[str, str], host: str) -> Iterator[Line]:
    if seen["host"].lower() != host.lower():
        text = f"The site is asked for the host {seen['host']}, and people open {host}."
        yield Line("bad", SUBJECT, text, "Let the proxy keep the header; nginx: proxy_set_header Host $http_host;")


def _judge_address(seen: Mapping[str, str]) -> Iterator[Line]:
    """Tell whether visitors can choose their address, and whether all of them look like the proxy."""
    forwarded = [each.strip() for each in seen["forwarded_for"].split(",") if each.strip()]
    keep = "nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
    if seen["address"] == CLAIMED:
        # Behind what was claimed stands where this command runs, which may be one of the proxies' own addresses.
        if not all(map(_is_trusted, forwarded[1:])) or forwarded == [CLAIMED]:
            text = "The site believes visitors where they come from, or no proxy was on the way of this request."
            yield Line("bad", SUBJECT, text, f"Let the proxy add where each comes from to X-Forwarded-For; {keep}")
    elif forwarded == [CLAIMED]:
        if settings.TRUSTED_PROXIES:
            text = "No proxy was on the way, or it does not say in X-Forwarded-For where visitors come from."
            yield Line("look", SUBJECT, text, f"{keep} If there is none, empty TRUSTED_PROXIES.")
    elif forwarded and seen["address"] not in forwarded:
        text = f"The proxy says where visitors come from, and is not believed: all seem to be {seen['address']}."
        yield Line("bad", SUBJECT, text, f"Add {seen['address']} to TRUSTED_PROXIES, if that is your proxy.")
    elif not forwarded and settings.TRUSTED_PROXIES:
        yield Line("bad", SUBJECT, f"The proxy takes X-Forwarded-For away: all seem to be {seen['address']}.", keep)


def _is_trusted(address: str) -> bool:
    try:
        return any(ip_address(address) in ip_network(each) for each in settings.TRUSTED_PROXIES)
    except ValueError:
        return False


def _check_sockets(url: str) -> Line:
    """Ask for a WebSocket. The site refuses a stranger's handshake with 403; what came as a plain request is 404."""
    answer = _request(url, "GET", "/ws/", {**HANDSHAKE, "Origin": settings.SITE_URL})
    if answer.status == 101 or (answer.status == 403 and not answer.is_ours):
        return Line("ok", SUBJECT, "WebSockets reach the site.")
    text = f"WebSockets don't reach the site ({answer.status}): replies come, but not as they are written."
    advice = (
        'nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; '
        "others pass them on by themselves, unless a rule forbids it."
    )
    return Line("bad", SUBJECT, text, advice)


def _check_body_size(url: str) -> Line:
    """Announce the largest body that the site takes, and send nothing of it."""
    megabytes = most_megabytes()
    size = {"Content-Length": str(megabytes * 1_000_000 + FORM_BYTES)}
    try:
        answer = _request(url, "POST", ADDRESS, size, seconds=BODY_SECONDS)
    except TimeoutError:
        answer = None  # it waits for the body
    if answer and answer.status == 413 and not answer.is_ours:
        text = f"The proxy refuses bodies of {megabytes} MB, which the site takes: large documents can't be sent."
        return Line("bad", SUBJECT, text, f"nginx: client_max_body_size {megabytes + 1}m;")
    return Line("ok", SUBJECT, f"Documents of {megabytes} MB together are let through.")


def _request(
    url: str, method: str, path: str, headers: Mapping[str, str], *, seconds: float = ANSWER_SECONDS
) -> SiteAnswer:
    """Send one request without a body. Raises `OSError` and `http.client.HTTPException`."""
    site = urlsplit(url)
    kind = http.client.HTTPSConnection if site.scheme == "https" else http.client.HTTPConnection
    with closing(kind(str(site.hostname), site.port, timeout=seconds)) as connection:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        content = b""
        if response.status == 200:
            with suppress(socket.timeout):
                content = response.read(100_000)
        is_ours = response.getheader(OURS) is not None
        return SiteAnswer(response.status, is_ours, content, response.getheader("Location", ""))


def _object_from(content: bytes) -> dict[str, str] | None:
    try:
        read = json.loads(content)
    except ValueError:
        return None
    return read if isinstance(read, dict) and {"scheme", "host", "address"} <= read.keys() else None
