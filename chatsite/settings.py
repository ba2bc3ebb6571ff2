"""The site's settings. What an operator may set is declared once, with `ENV`; the table of settings comes from that.

Those of the site itself, of accounts and of the admin's look are in `chatsite.configuration`.
"""

from __future__ import annotations

from typing import Any, Literal

from django.core.exceptions import ImproperlyConfigured

from chatsite import folders
from chatsite.configuration.logs import FORMATS, logging_settings
from chatsite.configuration.site import *
from chatsite.configuration.staticfiles import add_static_headers
from chatsite.configuration.unfold import UNFOLD  # noqa: F401
from chatsite.postgres.connection import NETWORK_LIMITS, LimitedConnection
from chatsite.postgres.url import parse_database_url

# Language models

OPENAI_BASE_URL = ENV.text(
    "OPENAI_BASE_URL", help="Any OpenAI-compatible endpoint, such as http://localhost:11434/v1 for Ollama."
)
OPENAI_API_KEY = ENV.secret(
    "OPENAI_API_KEY", help="The provider's key. Without key and base URL the demo model answers."
)
LANGUAGE_MODELS = ENV.text(
    "LANGUAGE_MODELS",
    help="Language models on offer, by commas, the first is the default; each a name and, after it, words such as "
    "context_window=8192 reply_reserve=1024 encoding=o200k_base input_usd=0.15 output_usd=0.60 "
    "vision=yes picture_tokens=800; docs/language-models.md has all of them, docs/providers.md those about its "
    "provider.",
)
WINDOW_POLICIES = ENV.words(
    "WINDOW_POLICIES",
    help="Window policies of this site's own that scenarios may choose: dotted paths of classes, by commas.",
)
SUMMARY_MODEL = ENV.text(
    "SUMMARY_MODEL",
    help="The language model of LANGUAGE_MODELS that writes summaries, a cheap one; empty is the conversation's own.",
)
SUMMARY_TOKENS = ENV.integer(
    "SUMMARY_TOKENS", default=500, minimum=50, help="Longest summary that is written of messages out of view."
)
SUMMARY_SECONDS = ENV.integer(
    "SUMMARY_SECONDS", default=60, minimum=1, help="Seconds that one request for a summary may take."
)
TITLE_MODEL = ENV.text(
    "TITLE_MODEL",
    help="The language model of LANGUAGE_MODELS that names conversations after their first reply, a cheap one; empty "
    "names them by their first words, as the demo model does.",
)
OPENAI_TIMEOUT_SECONDS = ENV.integer(
    "OPENAI_TIMEOUT_SECONDS", default=60, minimum=1, help="Longest wait for the first token and between two tokens."
)
OPENAI_ALIVE_TIMEOUT_SECONDS = ENV.integer(
    "OPENAI_ALIVE_TIMEOUT_SECONDS",
    default=300,
    minimum=1,
    help="The same while the provider goes on saying that it is alive, by comments in the stream.",
)
REPLY_TIMEOUT_SECONDS = ENV.integer(
    "REPLY_TIMEOUT_SECONDS",
    default=900,
    minimum=1,
    help="Longest time that one request may take; a reply that calls tools makes several.",
)
DEMO_TOKENS_PER_SECOND = ENV.integer(
    "DEMO_TOKENS_PER_SECOND", default=40, help="Pace of the demo model; 0 is as fast as it can."
)

# Documents

OPENAI_EMBEDDING_MODEL = ENV.text(
    "OPENAI_EMBEDDING_MODEL",
    help="Finds passages of documents and older messages by their meaning too, such as text-embedding-3-small; after "
    "the name words such as input_usd=0.02 context_window=8192 floor=0.3. Empty finds them by their words alone.",
)
LOCAL_EMBEDDINGS = ENV.text(
    "LOCAL_EMBEDDINGS",
    help="Folder of an embeddings model that runs on this machine in place of an endpoint: a sentence-transformer in "
    "the safetensors and tokenizers format; after it floor=0.3 or what else suits it.",
)
OPENAI_EMBEDDING_BASE_URL = ENV.text(
    "OPENAI_EMBEDDING_BASE_URL", help="OpenAI-compatible endpoint for embeddings, if it is not `OPENAI_BASE_URL`."
)
OPENAI_EMBEDDING_API_KEY = ENV.secret(
    "OPENAI_EMBEDDING_API_KEY", help="The key for `OPENAI_EMBEDDING_BASE_URL`. `OPENAI_API_KEY` is never sent there."
)
SEARCH_LANGUAGE = ENV.text(
    "SEARCH_LANGUAGE",
    default="english",
    help="Language whose word endings are ignored in documents that are sent from now on: a text search configuration "
    "of PostgreSQL, such as german or simple. Chinese and Japanese are found in any.",
)
DOCUMENT_MEGABYTES = ENV.integer("DOCUMENT_MEGABYTES", default=20, minimum=1, help="Largest document.")
DOCUMENTS_PER_CONVERSATION = ENV.integer(
    "DOCUMENTS_PER_CONVERSATION", default=100, minimum=1, help="Most documents of one conversation, or of one scenario."
)
DOCUMENT_STORAGE_MEGABYTES = ENV.integer(
    "DOCUMENT_STORAGE_MEGABYTES",
    default=500,
    minimum=1,
    help="Most megabytes of documents and pictures that one user keeps.",
)
SHARE_STORAGE_MEGABYTES = ENV.integer(
    "SHARE_STORAGE_MEGABYTES",
    default=200,
    minimum=1,
    help="Most megabytes of text, as the database keeps it, in the shares of one user and the conversations that they "
    "copied from shares.",
)
DOCUMENT_SECONDS = ENV.integer(
    "DOCUMENT_SECONDS",
    default=120,
    minimum=1,
    help="Processor seconds that parsing a document may take; it is waited for four times as long.",
)
DOCUMENT_MEMORY_MEGABYTES = ENV.integer(
    "DOCUMENT_MEMORY_MEGABYTES", default=1024, minimum=256, help="Most memory that parsing a document takes."
)
PICTURE_MEGABYTES = ENV.integer(
    "PICTURE_MEGABYTES",
    default=20,
    minimum=1,
    help="Largest file of a picture, up to five times `DOCUMENT_MEGABYTES`; what is stored of it is smaller.",
)
PICTURES_PER_MESSAGE = ENV.integer("PICTURES_PER_MESSAGE", default=20, minimum=1, help="Most pictures of one message.")

IMPORT_MEGABYTES = ENV.integer(
    "IMPORT_MEGABYTES",
    default=2_000,
    minimum=0,
    help="Most megabytes of an export of another chat program that is imported, all its files together; 0 forbids it.",
)
IMPORTED_TEXT_MEGABYTES = ENV.integer(
    "IMPORTED_TEXT_MEGABYTES",
    default=2_000,
    minimum=1,
    help="Most megabytes of text that one user keeps of imported conversations, and as many that programs store.",
)

# Web search

WEB_SEARCH_URL = ENV.text(
    "WEB_SEARCH_URL",
    help="Address of a SearXNG whose results may be sent beside a question, such as http://localhost:8888; its JSON "
    "format must be enabled. Empty is no web search.",
)
WEB_SEARCH_RESULTS = ENV.integer(
    "WEB_SEARCH_RESULTS", default=8, minimum=1, maximum=50, help="Most results of one web search."
)
WEB_SEARCH_SECONDS = ENV.integer(
    "WEB_SEARCH_SECONDS", default=6, minimum=1, help="Longest wait for a web search; then the reply is made without it."
)

# Limits

MESSAGES_PER_MINUTE = ENV.integer(
    "MESSAGES_PER_MINUTE", default=20, help="Messages that one user may send in a minute; 0 is without limit."
)
REPLIES_PER_USER = ENV.integer(
    "REPLIES_PER_USER",
    default=10,
    formerly="REPLIES_PER_PERSON",
    help="Replies that may be made for one user at the same time; 0 is without limit.",
)
MONEY_PER_DAY_USD = ENV.number(
    "MONEY_PER_DAY_USD", default=None, help="US dollars that one user may use in a day (UTC); empty is without limit."
)
REQUESTS_PER_USER = ENV.integer(
    "REQUESTS_PER_USER",
    default=2,
    minimum=1,
    help="Requests for pages of one user that a process answers at once; the others wait in their order.",
)
SOCKETS_PER_USER = ENV.integer(
    "SOCKETS_PER_USER", default=40, minimum=1, help="Open pages of one user that a process keeps connected."
)
MIGRATE_ON_START = ENV.switch(
    "MIGRATE_ON_START",
    default=True,
    help="Bring the database up to date when a web process starts. Off where `manage.py upgrade` is a step of its own: "
    "a start then refuses an older database.",
)
RUN_WORKER = ENV.switch(
    "RUN_WORKER", default=True, help="Make replies inside the web process. Off when `run_worker` processes do it."
)
PROCESSES = ENV.integer(
    "PROCESSES",
    default=1,
    minimum=1,
    maximum=8,
    help="Web processes that `serve` starts on this machine, behind one port; above 1 replies are made in one more. "
    "Needs `REDIS_URL`.",
)
TOOL_STEPS = ENV.integer("TOOL_STEPS", default=8, minimum=1, help="Steps in which one reply may call tools.")
TOOL_SECONDS = ENV.integer(
    "TOOL_SECONDS",
    default=180,
    minimum=1,
    help="Seconds after which a reply that calls tools has to answer with what it has.",
)
TOOL_CALL_SECONDS = ENV.integer(
    "TOOL_CALL_SECONDS",
    default=20,
    minimum=1,
    help="Seconds that one call of a built-in tool, or of the site's own, may take, unless its decorator says "
    "otherwise.",
)
TOOL_APPROVAL_MINUTES = ENV.integer(
    "TOOL_APPROVAL_MINUTES",
    default=60,
    minimum=1,
    formerly="TOOL_CONSENT_MINUTES",
    help="Minutes that a reply waits for its owner to approve a call.",
)
TOOL_MODULES = ENV.words("TOOL_MODULES", help="Python modules with tools of the site's own, by dotted path.")
MCP_HOSTS = ENV.words(
    "MCP_HOSTS", help="Hosts of MCP servers that may be inside: on this machine or in a private network."
)
REPLIES_AT_ONCE = ENV.integer("REPLIES_AT_ONCE", default=100, minimum=1, help="Replies that one worker makes at once.")

# Review

CONVERSATION_READING = ENV.choice(
    "CONVERSATION_READING",
    ("with-reason", "off"),
    default="with-reason",
    help="Whether reviewers and admins may open the words of people's conversations, each time with a reason that is "
    "logged, or never.",
)
SHARES = ENV.choice(
    "SHARES",
    ("signed-in", "anyone", "off"),
    default="signed-in",
    help="Who may read the conversations that people share by a link: those who are signed in and admitted, anyone who "
    "has the link, or no one, which also ends all links.",
)
API = ENV.switch(
    "API",
    default=True,
    help="Whether people may make keys with which programs ask language models at `/v1`, within their own limits.",
)
API_ORIGINS = ENV.words(
    "API_ORIGINS",
    help="Other sites, such as https://app.example.org, whose pages may ask at `/v1` with a key. Without it none may.",
)
WEBHOOK_URL = ENV.text(
    "WEBHOOK_URL",
    help="Address, https:// or http://, that is told of each reply that has ended and of the site's budget; ids only.",
)
WEBHOOK_SECRET = ENV.secret(
    "WEBHOOK_SECRET", help="Signs what is sent there: `whsec_` and 24 to 64 random bytes in base64."
)
WEBHOOK_HOSTS = ENV.words(
    "WEBHOOK_HOSTS", help="Hosts of people's webhooks that may be inside: on this machine or in a private network."
)
READINGS_SHOWN_TO_OWNERS = ENV.switch(
    "READINGS_SHOWN_TO_OWNERS", default=True, help="Show people who has read their conversations, when and why."
)

# Logs

LOG_FORMAT = ENV.choice(
    "LOG_FORMAT", FORMATS, default="console", help="How a line of the log is written: for a console, or as JSON."
)
LOG_LEVEL = ENV.choice(
    "LOG_LEVEL",
    ("DEBUG", "INFO", "WARNING", "ERROR"),
    default="INFO",
    help="From which level on the site writes lines of its own. Libraries write from WARNING on.",
)
RETENTION_DAYS = ENV.integer(
    "RETENTION_DAYS",
    default=0,
    minimum=0,
    maximum=36_500,
    help="Days after which a conversation that was not touched is deleted, and can then be restored as any other. "
    "0 is never. Rules for roles and scenarios are in the admin; the shortest counts.",
)
RETENTION_NOTICE_DAYS = ENV.integer(
    "RETENTION_NOTICE_DAYS",
    default=14,
    minimum=1,
    maximum=365,
    help="Days before that on which the owner is told, at least. No rule may be shorter.",
)
if 0 < RETENTION_DAYS < RETENTION_NOTICE_DAYS:
    raise ImproperlyConfigured(
        "RETENTION_DAYS must be at least RETENTION_NOTICE_DAYS: owners are told that long before."
    )
DELETED_CONVERSATION_DAYS = ENV.integer(
    "DELETED_CONVERSATION_DAYS",
    default=30,
    minimum=1,
    maximum=3650,
    help="Days that a deleted conversation can be restored. Then its words are permanently gone.",
)
SECURITY_LOG_DAYS = ENV.integer(
    "SECURITY_LOG_DAYS",
    default=90,
    minimum=1,
    help="Days that sign-ins, refusals and other security events are kept in the admin.",
)

METRICS_TOKEN = ENV.secret(
    "METRICS_TOKEN",
    help="With it, `/metrics` answers in Prometheus form who sends `Authorization: Bearer` and this token.",
)
METRICS_PORT = ENV.integer(
    "METRICS_PORT",
    default=0,
    maximum=65535,
    help="Port at `HOST` where `run_worker` answers with its metrics, without a token; 0 is none.",
)
OTEL_EXPORTER_OTLP_ENDPOINT = ENV.text(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    help="OpenTelemetry collector that gets spans of replies, requests to providers and tool calls over OTLP/HTTP, "
    "such as http://localhost:4318. Needs the extra `otel`.",
)

# Data

DATABASE_URL = ENV.secret(
    "DATABASE_URL",
    help="PostgreSQL ≥ 15 with pgvector, such as postgres://user:password@host:5432/name?sslmode=require, or with the "
    "folder of its socket postgresql:///name?host=/run/postgresql. Special characters of the password are written as "
    "%XX, and libpq's parameters of one host are understood. Embedded if empty.",
)
DATABASE_POOL_SIZE = ENV.integer(
    "DATABASE_POOL_SIZE", default=16, minimum=2, help="Most connections of one process to PostgreSQL."
)
DATABASE_WAIT_SECONDS = ENV.integer(
    "DATABASE_WAIT_SECONDS",
    default=5,
    minimum=1,
    help="Longest wait for one of them; then people are told to try again.",
)
DATABASE_STATEMENT_SECONDS = ENV.integer(
    "DATABASE_STATEMENT_SECONDS",
    default=60,
    minimum=0,
    help="Longest time of one statement while the site serves. 0 leaves limits to the server, as PgBouncer needs it.",
)
DATABASE_PREPARES = ENV.switch(
    "DATABASE_PREPARES",
    default=True,
    help="Whether statements are prepared on the server. Off for a PgBouncer before 1.21, or without "
    "`max_prepared_statements`.",
)
REDIS_URL = ENV.secret(
    "REDIS_URL",
    help="Redis, which carries live text between processes; needed only with more than one. "
    "redis://:password@host:6379/0, rediss://… (TLS) or unix:///run/redis.sock?db=0; special characters of the "
    "password are written as %XX.",
)
if PROCESSES > 1 and not REDIS_URL:
    raise ImproperlyConfigured("PROCESSES above 1 needs REDIS_URL, which carries live text between the processes.")

BACKUP_FOLDER = ENV.path(
    "BACKUP_FOLDER",
    default=VAR_DIR / "backups",
    shown="var/backups",
    help="Folder for backups that are given no other place. Put it on another disk.",
)
BACKUP_EVERY_HOURS = ENV.integer(
    "BACKUP_EVERY_HOURS",
    default=0,
    maximum=8_760,
    help="Hours after which the worker makes another backup into `BACKUP_FOLDER`; 0 is never.",
)
BACKUPS_KEPT = ENV.integer(
    "BACKUPS_KEPT",
    default=7,
    minimum=1,
    help="How many of those are kept. Others in that folder are never deleted.",
)
BACKUP_PASSPHRASE = ENV.secret(
    "BACKUP_PASSPHRASE",
    help="Encrypts backups. Without it anyone with the file can read it. An encrypted one needs it to be restored.",
)

if DATABASE_URL:
    try:
        _database = parse_database_url(DATABASE_URL)
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {error}") from None
else:
    _database = {"ENGINE": "chatsite.postgres", "NAME": "windowseat", "EMBEDDED_DIR": VAR_DIR / "postgres"}
_database["OPTIONS"] = NETWORK_LIMITS | _database.get("OPTIONS", {})
_database["OPTIONS"] |= {"server_side_binding": True, "prepare_threshold": 5 if DATABASE_PREPARES else None}
_database["OPTIONS"]["pool"] = {
    "connection_class": LimitedConnection,
    "min_size": 1,
    "max_size": DATABASE_POOL_SIZE,
    # While the database is away people are told so this soon, and this long after its return it is found again.
    "timeout": DATABASE_WAIT_SECONDS,
    "reconnect_timeout": 5,
}
DATABASES = {"default": {**_database, "CONN_HEALTH_CHECKS": True}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS: dict[str, Any] = {}
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "conversations.live.channel_layer.TopicLayer",
            "CONFIG": {"hosts": [REDIS_URL], "prefix": "windowseat"},
        }
    }
# Attempts at signing in are counted here: in PostgreSQL, so that they are counted for all processes, and also while
# Redis is away.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "accounts_cacheentry",
        # With Django's 300 entries, a few hundred addresses push the counters out.
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

# Django

INSTALLED_APPS = [
    "chatsite",
    "chatsite.postgres",
    "chatsite.accounts",
    "conversations",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "channels",
    "django_htmx",
]
MIDDLEWARE = [
    "chatsite.middleware.request_id.RequestIdMiddleware",
    "chatsite.middleware.without_cookies.WithoutCookiesMiddleware",
    "chatsite.middleware.health.HealthMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "chatsite.middleware.static_files.StaticFilesMiddleware",
    "chatsite.middleware.compression.compress_pages",
    "chatsite.middleware.security_headers.SecurityHeadersMiddleware",
    "chatsite.middleware.without_shell.WithoutShellMiddleware",
    "chatsite.middleware.null_characters.NullCharacterMiddleware",
    "chatsite.middleware.long_work.LongWorkMiddleware",
    "conversations.views.http.api_middleware.answer_programs",
    "chatsite.accounts.sessions.session_middleware.TrackedSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "chatsite.accounts.sessions.session_middleware.SessionUserMiddleware",
    "chatsite.accounts.preferences.reader_language.ReaderLanguageMiddleware",
    "chatsite.accounts.preferences.reader_time_zone.ReaderTimeZoneMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "chatsite.accounts.sign_in.known_device.KnownDeviceMiddleware",
    "chatsite.accounts.security.security_middleware.SecurityLogMiddleware",
    "chatsite.accounts.access_middleware.AdminAccessMiddleware",
    "chatsite.accounts.access_middleware.SecondFactorAccessMiddleware",
    "chatsite.accounts.access_middleware.ProviderAccessMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "conversations.views.http.body_limit.refuse_large_bodies",
]
ROOT_URLCONF = "chatsite.urls"
ASGI_APPLICATION = "chatsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [folders.TEMPLATES],
        "OPTIONS": {
            "loaders": [
                (
                    "chatsite.compiled_templates.loader.Loader",
                    [
                        "chatsite.compiled_templates.loader.UnindentedLoader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "chatsite.context_processors.site",
                "conversations.views.conversation_list.listed_conversations.shell",
            ],
        },
    }
]
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LANGUAGE_COOKIE_AGE = 60 * 60 * 24 * 365
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE: Literal["Lax"] = "Lax"
FORMAT_MODULE_PATH = "chatsite.formats"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

# What happens is written to standard error. (Django's own default shows nothing unless DEBUG is on.)
LOGGING = logging_settings(LOG_FORMAT, level=LOG_LEVEL)

# Static files: straight from their folders locally, collected and hashed in the container image.
STATIC_URL = "static/"
STATICFILES_DIRS = [folders.STATIC]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "chatsite.configuration.typeface.TypefaceFinder",
    "chatsite.configuration.bundles.BundleFinder",
]
# `make static` makes the folder, then fills it.
_collected = folders.IS_CHECKOUT and (folders.CODE / "staticfiles").is_dir()
STATIC_ROOT = folders.CODE / "staticfiles" if _collected else None
SERVESTATIC_USE_FINDERS = not _collected
SERVESTATIC_ADD_HEADERS_FUNCTION = add_static_headers
SERVESTATIC_ALLOW_ALL_ORIGINS = False  # other sites have no use for them
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "chatsite.configuration.staticfiles.ModuleManifestStorage"
        if _collected
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Accounts. Imported here, because the table of settings has the order in which they are declared.

from chatsite.configuration.accounts import *  # noqa: E402

if OIDC_SERVER_URL:  # else it loads its client of HTTP for nothing, 4 MB
    INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")

# Security

HSTS = ENV.choice(
    "HSTS",
    ("host", "subdomains", "preload"),
    default="host",
    help="With an https `SITE_URL`, what browsers open by https alone for a year: this host; its subdomains too; or "
    "both, and it may be put on browsers' preload lists.",
)
# A megabyte of text is three in a form: it must come through, so that the refusal can say by how much it is too long.
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 2**20
SESSION_ENGINE = "chatsite.accounts.sessions.session_store"
SESSION_COOKIE_HTTPONLY = True
KNOWN_DEVICE_COOKIE_NAME = "known-device"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if SITE_SCHEME == "https":
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = True
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    KNOWN_DEVICE_COOKIE_NAME = "__Host-known-device"
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365
    SECURE_HSTS_INCLUDE_SUBDOMAINS = HSTS != "host"
    SECURE_HSTS_PRELOAD = HSTS == "preload"
