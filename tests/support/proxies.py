"""Reverse proxies in front of a site: nginx and Caddy, each with the very file of deploy/, and browsers that ask them.

Browsers open https://chat.example.org as anywhere else, but at a port of this machine. Only what a test can't have is
replaced in nginx's file, which takes no variables: ports, certificate, and where the site listens.
"""

from __future__ import annotations

import datetime
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.faults.browsers import Browser

from .patience import PATIENCE_SECONDS, wait_for
from .ports import free_port
from .source import PROJECT

HOST = "chat.example.org"
ADDRESS = f"https://{HOST}"
NGINX_FILE = PROJECT / "deploy/nginx/windowseat.conf"
CADDY_FILE = PROJECT / "deploy/caddy/Caddyfile"
NGINX_AROUND = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    include {folder}/windowseat.conf;
}}
"""
# The mark of a port that a test has taken is on its UDP, so there is no HTTP/3.
CADDY_GLOBAL_OPTIONS = """
    admin off
    auto_https disable_redirects
    skip_install_trust
    https_port {port}
    servers {{
        protocols h1 h2
    }}
"""


class Proxy:
    """A running proxy: *port* ends TLS."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.port = port
        self.certificate = certificate

    def connect(self, *, source: str = "127.0.0.1", name: str = HOST) -> ssl.SSLSocket:
        """Connect from the address *source*, and ask for the certificate of *name*."""
        plain = socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS, source_address=(source, 0))
        try:
            return self.context().wrap_socket(plain, server_hostname=name)
        except BaseException:
            plain.close()
            raise

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    def connection(self, *, source: str = "127.0.0.1") -> http.client.HTTPConnection:
        """Return a connection over which a test asks by itself."""
        connection = http.client.HTTPConnection(HOST, timeout=PATIENCE_SECONDS)
        connection.sock = self.connect(source=source)
        return connection


class ProxiedBrowser(Browser):
    """A browser on *source* that asks through *proxy*; *claims* are headers that a liar would add."""

    def __init__(self, proxy: Proxy, *, source: str = "127.0.0.1", **claims: str) -> None:
        super().__init__(ADDRESS)
        self._proxy, self._source = proxy, source
        self._opener.add_handler(_HttpsHandler(lambda: proxy.connect(source=source)))
        self._opener.addheaders = [("Referer", f"{ADDRESS}/"), *claims.items()]

    def socket_options(self) -> dict[str, Any]:
        plain = socket.create_connection(("127.0.0.1", self._proxy.port), source_address=(self._source, 0))
        return {"sock": plain, "ssl": self._proxy.context(), "server_hostname": HOST}


class _HttpsHandler(urllib.request.HTTPSHandler):
    handler_order = 100  # before the usual one

    def __init__(self, connect: Callable[[], ssl.SSLSocket]) -> None:
        super().__init__()
        self._connect = connect

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        def connection(host: str, **options: Any) -> http.client.HTTPConnection:
            made = http.client.HTTPConnection(host, timeout=options["timeout"])
            made.sock = self._connect()
            return made

        return self.do_open(connection, request)


@contextmanager
def run_nginx(folder: Path, *, site_port: int) -> Iterator[Proxy]:
    """Run nginx with its file of deploy/ in front of the site."""
    certificate, key = make_certificate(folder)
    port, plain_port = free_port(), free_port()
    replaced = {
        "    listen [::]:443 ssl default_server;\n": "",
        "    listen [::]:443 ssl http2;\n": "",
        "    listen [::]:80;\n": "",
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{site_port};",
        f"/etc/letsencrypt/live/{HOST}/fullchain.pem": str(certificate),
        f"/etc/letsencrypt/live/{HOST}/privkey.pem": str(key),
    }
    rendered = NGINX_FILE.read_text(encoding="utf-8")
    for shipped, here in replaced.items():
        assert shipped in rendered, f"{shipped.strip()} is no longer in {NGINX_FILE}"
        rendered = rendered.replace(shipped, here)
    (folder / "windowseat.conf").write_text(rendered, encoding="utf-8")
    (folder / "nginx.conf").write_text(NGINX_AROUND.format(folder=folder), encoding="utf-8")
    with _running(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], folder, port=port):
        yield Proxy(port, certificate)


@contextmanager
def run_caddy(folder: Path, *, site_port: int) -> Iterator[Proxy]:
    """Run Caddy with its file of deploy/ in front of the site."""
    certificate, key = make_certificate(folder)
    port = free_port()
    environment = {
        "SITE_URL": ADDRESS,
        "WINDOWSEAT": f"127.0.0.1:{site_port}",
        "CADDY_GLOBAL_OPTIONS": CADDY_GLOBAL_OPTIONS.format(port=port),
        "CADDY_SITE_OPTIONS": f"bind 127.0.0.1\n\ttls {certificate} {key}",
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(CADDY_FILE)]
    with _running(command, folder, port=port, **environment):
        yield Proxy(port, certificate)


@contextmanager
def _running(command: list[str], folder: Path, *, port: int, **environment: str) -> Iterator[None]:
    program = shutil.which(command[0], path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, f"mark the test with `{command[0]}`"
    log = folder / "proxy.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, *command[1:]], stdout=output, stderr=output, env=os.environ | environment, cwd=folder
        )
    try:
        wait_for(lambda: _accepts(port) or process.poll() is not None, f"{command[0]} listens")
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_SECONDS)


def _accepts(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate of the site's name that it has signed itself, and return its file and that of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, SHA256())
    )
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    certificate_file.write_bytes(certificate.public_bytes(Encoding.PEM))
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate_file, key_file
