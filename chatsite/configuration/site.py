"""Settings of the site itself: its address, name, folder and secret key. `ENV`, from which all others are read."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from chatsite import folders
from chatsite.configuration.env import load_environment
from chatsite.configuration.secret_key import local_secret_key

try:
    SETTINGS_DIR = folders.CODE if folders.IS_CHECKOUT else folders.data_folder(os.environ)
except folders.NoDataFolder as error:
    raise ImproperlyConfigured(str(error)) from None
# Relative paths start in the folder of the settings; there, VAR_DIR is that folder itself.
_given = (
    os.environ if folders.IS_CHECKOUT or not os.environ.get("VAR_DIR") else {**os.environ, "VAR_DIR": str(SETTINGS_DIR)}
)
ENV = load_environment(SETTINGS_DIR, _given)
SETTINGS_FILE = ENV.file

DEBUG = ENV.switch("DEBUG", default=False, help="Django's debug pages. Never on a public site.")
HOST = ENV.text("HOST", default="127.0.0.1", help="Address that the server listens on.")
PORT = ENV.integer("PORT", default=8000, minimum=1, maximum=65535, help="Port that the server listens on.")
SITE_URL = ENV.text(
    "SITE_URL",
    default=f"http://127.0.0.1:{PORT}",
    help="The address people open. Its host is the only one that is served, https makes cookies secure.",
).rstrip("/")
SITE_NAME = ENV.text("SITE_NAME", default="Windowseat", help="Name shown on every page.")
VAR_DIR = ENV.path(
    "VAR_DIR",
    default=folders.CODE / "var" if folders.IS_CHECKOUT else SETTINGS_DIR,
    shown="var",
    help="Folder for the embedded database and local secrets.",
)
# Bundles and fonts are the same for every site that a checkout starts.
MADE_FILES_DIR = folders.CODE / "var" if folders.IS_CHECKOUT else VAR_DIR

_site = urlsplit(SITE_URL)
if _site.scheme not in ("http", "https") or not _site.hostname:
    raise ImproperlyConfigured("SITE_URL must be an address such as https://chat.example.org")
SITE_SCHEME = _site.scheme
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
SITE_IS_LOCAL = _site.hostname in ("localhost", "127.0.0.1", "::1")
ALLOWED_HOSTS = LOCAL_HOSTS if SITE_IS_LOCAL else [_site.hostname]
CSRF_TRUSTED_ORIGINS = [SITE_URL]
WEBSOCKET_ORIGINS = [SITE_URL, *(f"http://{host}:{PORT}" for host in LOCAL_HOSTS if SITE_IS_LOCAL)]
TRUSTED_PROXIES = ENV.networks(
    "TRUSTED_PROXIES",
    help="Reverse proxies whose X-Forwarded-For and -Proto are believed, such as 127.0.0.1 or 172.16.0.0/12.",
)
SECRET_KEY = ENV.secret(
    "SECRET_KEY", help="Signs sessions and links. Required on a public site; made and kept in `VAR_DIR` locally."
)
if not SECRET_KEY:
    if not SITE_IS_LOCAL:
        raise ImproperlyConfigured(
            "SECRET_KEY is required when SITE_URL is not this machine. Set 50 random characters."
        )
    SECRET_KEY = local_secret_key(VAR_DIR)
