"""The site's settings. What an operator may set is declared here once; README's table comes from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.env import load_environment
from chatsite.configuration.mail import parse_smtp_url
from chatsite.configuration.secret_key import local_secret_key
from chatsite.configuration.single_sign_on import social_providers
from chatsite.postgres.url import parse_database_url

BASE_DIR = Path(__file__).resolve().parent.parent
ENV = load_environment(BASE_DIR)

# The site

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
    "VAR_DIR", default=BASE_DIR / "var", shown="var", help="Folder for the embedded database and local secrets."
)

_site = urlsplit(SITE_URL)
if _site.scheme not in ("http", "https") or not _site.hostname:
    raise ImproperlyConfigured("SITE_URL must be an address such as https://chat.example.org")
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
SITE_IS_LOCAL = _site.hostname in ("localhost", "127.0.0.1", "::1")
ALLOWED_HOSTS = LOCAL_HOSTS if SITE_IS_LOCAL else [_site.hostname]
CSRF_TRUSTED_ORIGINS = [SITE_URL]
WEBSOCKET_ORIGINS = [SITE_URL, *(f"http://{host}:{PORT}" for host in LOCAL_HOSTS if SITE_IS_LOCAL)]
TRUSTED_PROXIES = ENV.networks(
    "TRUSTED_PROXIES",
    help="Reverse proxies whose X-Forwarded-For and -Proto are believed, such as 127.0.0.1 or 172.16.0.0/12.",
)
SECRET_KEY = ENV.text(
    "SECRET_KEY", help="Signs sessions and links. Required on a public site; made and kept in `VAR_DIR` locally."
)
if not SECRET_KEY:
    if not SITE_IS_LOCAL:
        raise ImproperlyConfigured(
            "SECRET_KEY is required when SITE_URL is not this machine. Set 50 random characters."
        )
    SECRET_KEY = local_secret_key(VAR_DIR)

# Language models

OPENAI_BASE_URL = ENV.text(
    "OPENAI_BASE_URL", help="Any OpenAI-compatible endpoint, such as http://localhost:11434/v1 for Ollama."
)
OPENAI_API_KEY = ENV.text("OPENAI_API_KEY", help="The provider's key. Without key and base URL the demo model answers.")
LANGUAGE_MODELS = ENV.text(
    "LANGUAGE_MODELS",
    help="Language models on offer, by commas, the first is the default; each a name and, after it, words such as "
    "context_window=8192 reply_reserve=1024 encoding=o200k_base input_usd=0.15 output_usd=0.60.",
)
WINDOW_POLICIES = ENV.words(
    "WINDOW_POLICIES",
    help="Window policies of this site's own that scenarios may choose: dotted paths of classes, by commas.",
)
OPENAI_TIMEOUT_SECONDS = ENV.integer(
    "OPENAI_TIMEOUT_SECONDS", default=60, minimum=1, help="Longest wait for the first token and between two tokens."
)
REPLY_TIMEOUT_SECONDS = ENV.integer(
    "REPLY_TIMEOUT_SECONDS", default=900, minimum=1, help="Longest time that one reply may take."
)
DEMO_TOKENS_PER_SECOND = ENV.integer(
    "DEMO_TOKENS_PER_SECOND", default=40, help="Pace of the demo model; 0 is as fast as it can."
)

# Documents

OPENAI_EMBEDDING_MODEL = ENV.text(
    "OPENAI_EMBEDDING_MODEL",
    help="Finds passages of documents by their meaning too, such as text-embedding-3-small; after the name words such "
    "as input_usd=0.02 context_window=8192 floor=0.3. Empty finds them by their words alone.",
)
OPENAI_EMBEDDING_BASE_URL = ENV.text(
    "OPENAI_EMBEDDING_BASE_URL", help="OpenAI-compatible endpoint for embeddings, if it is not `OPENAI_BASE_URL`."
)
OPENAI_EMBEDDING_API_KEY = ENV.text(
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
    "DOCUMENT_STORAGE_MEGABYTES", default=500, minimum=1, help="Most megabytes of documents that one person keeps."
)
DOCUMENT_SECONDS = ENV.integer(
    "DOCUMENT_SECONDS",
    default=120,
    minimum=1,
    help="Processor time that reading a document may take; it is waited for four times as long.",
)
DOCUMENT_MEMORY_MEGABYTES = ENV.integer(
    "DOCUMENT_MEMORY_MEGABYTES", default=1024, minimum=256, help="Most memory that reading a document takes."
)

# Limits

MESSAGES_PER_MINUTE = ENV.integer(
    "MESSAGES_PER_MINUTE", default=20, help="Messages that one person may send in a minute; 0 is without limit."
)
REPLIES_PER_PERSON = ENV.integer(
    "REPLIES_PER_PERSON", default=10, help="Replies that one person may have made at the same time; 0 is without limit."
)
MONEY_PER_DAY_USD = ENV.number(
    "MONEY_PER_DAY_USD", default=None, help="US dollars that one person may use in a day (UTC); empty is without limit."
)
RUN_WORKER = ENV.switch(
    "RUN_WORKER", default=True, help="Make replies inside the web process. Off when `run_worker` processes do it."
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
    help="Seconds that one call of a built-in tool, or of the site's own, may take.",
)
TOOL_CONSENT_MINUTES = ENV.integer(
    "TOOL_CONSENT_MINUTES", default=60, minimum=1, help="Minutes that a reply waits for its person to allow a call."
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
READINGS_SHOWN_TO_OWNERS = ENV.switch(
    "READINGS_SHOWN_TO_OWNERS", default=True, help="Show people who has read their conversations, when and why."
)

# Data

DATABASE_URL = ENV.text(
    "DATABASE_URL", help="PostgreSQL ≥ 15 with pgvector, such as postgres://user:password@host/name. Embedded if empty."
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
REDIS_URL = ENV.text("REDIS_URL", help="Redis, needed only with more than one process.")

if DATABASE_URL:
    try:
        _database = parse_database_url(DATABASE_URL)
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {error}") from None
else:
    _database = {"ENGINE": "chatsite.postgres", "NAME": "windowseat", "EMBEDDED_DIR": VAR_DIR / "postgres"}
_database.setdefault("OPTIONS", {})["pool"] = {
    "min_size": 1,
    "max_size": DATABASE_POOL_SIZE,
    # While the database is away people are told so this soon, and this long after its return it is found again.
    "timeout": DATABASE_WAIT_SECONDS,
    "reconnect_timeout": 5,
}
DATABASES = {"default": {**_database, "CONN_HEALTH_CHECKS": True}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS: dict[str, Any] = {}
CACHES: dict[str, Any]
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL], "prefix": "windowseat"},
        }
    }
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
else:
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            # Limits on attempts are counted here. With Django's 300 entries, a few hundred addresses push them out.
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
    "allauth.socialaccount.providers.openid_connect",
    "channels",
    "csp",
    "django_htmx",
]
MIDDLEWARE = [
    "chatsite.middleware.health.HealthMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "chatsite.middleware.security_headers.SecurityHeadersMiddleware",
    "chatsite.middleware.security_headers.ContentSecurityMiddleware",
    "chatsite.middleware.null_characters.NulMiddleware",
    "chatsite.accounts.sessions.session_middleware.SeenSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "chatsite.middleware.reader_language.ReaderLanguageMiddleware",
    "chatsite.middleware.reader_time_zone.ReaderClockMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "chatsite.accounts.access_middleware.AdminDoorMiddleware",
    "chatsite.accounts.access_middleware.SecondFactorDoorMiddleware",
    "chatsite.accounts.access_middleware.ProviderDoorMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "conversations.views.http.body_limit.refuse_large_bodies",
]
ROOT_URLCONF = "chatsite.urls"
ASGI_APPLICATION = "chatsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "chatsite.context_processors.site",
            ]
        },
    }
]
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LANGUAGE_COOKIE_AGE = 60 * 60 * 24 * 365
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE: Literal["Lax"] = "Lax"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

# What goes wrong is written to standard error. (Django's own default shows nothing unless DEBUG is on.)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": [], "level": "NOTSET"},
        "django.request": {"level": "ERROR"},  # every address that is not there is no warning
        "mcp": {"level": "CRITICAL"},  # writes down what servers answer; what goes wrong is said by the call
    },
}

# Static files: straight from their folders locally, collected and hashed in the container image.
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
_collected = (BASE_DIR / "staticfiles").is_dir()  # `make static` makes the folder, then fills it
STATIC_ROOT = BASE_DIR / "staticfiles" if _collected else None
SERVESTATIC_USE_FINDERS = not _collected
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "chatsite.configuration.staticfiles.ModuleManifestStorage"
        if _collected
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Accounts

AUTH_USER_MODEL = "accounts.User"
# What the role reviewer allows in the admin, beside what every reviewer may do: read.
REVIEWER_PERMISSIONS = frozenset(
    f"conversations.view_{model}" for model in ("conversation", "message", "completion", "toolcall", "reading", "run")
)
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "chatsite.accounts.password_hasher.BoundedArgon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

SMTP_URL = ENV.text(
    "SMTP_URL",
    help="Mail server, such as smtps://user:password@mail.example.org (TLS) or smtp://… (STARTTLS). With it, new "
    "accounts must confirm their address; without it, mails are printed where the site was started.",
)
DEFAULT_FROM_EMAIL = ENV.text("MAIL_FROM", default="windowseat@localhost", help="Sender of mails.")
SIGN_UP = ENV.choice(
    "SIGN_UP",
    ("open", "domains", "invitation", "closed"),
    default="open",
    help="Who may make an account: everyone, who has an address in `SIGN_UP_DOMAINS` or an invitation, who has an "
    "invitation, nobody.",
)
SIGN_UP_DOMAINS = ENV.words("SIGN_UP_DOMAINS", help="Domains of email addresses, for `SIGN_UP=domains`.")
STAFF_SECOND_FACTOR = ENV.switch(
    "STAFF_SECOND_FACTOR", default=False, help="Reviewers and admins must have a second factor to enter the admin."
)
OIDC_SERVER_URL = ENV.text(
    "OIDC_SERVER_URL", help="An OpenID Connect provider to sign in with, such as https://id.example.org/realms/team."
)
OIDC_CLIENT_ID = ENV.text("OIDC_CLIENT_ID", help="This site's name at that provider.")
OIDC_CLIENT_SECRET = ENV.text("OIDC_CLIENT_SECRET", help="This site's secret at that provider.")
OIDC_NAME = ENV.text("OIDC_NAME", default="Single sign-on", help="What the button to sign in there says.")

if SMTP_URL:
    try:
        _mail = parse_smtp_url(SMTP_URL)
    except ValueError as error:
        raise ImproperlyConfigured(f"SMTP_URL: {error}") from None
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST, EMAIL_PORT = _mail.host, _mail.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
    EMAIL_USE_SSL, EMAIL_USE_TLS = _mail.use_ssl, _mail.use_tls
    EMAIL_TIMEOUT = 15
else:
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

ACCOUNT_ADAPTER = "chatsite.accounts.allauth_adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "signup": "chatsite.accounts.forms.SignUpForm",
    "add_email": "chatsite.accounts.forms.ChangeEmailForm",
}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if SMTP_URL else "optional"
ACCOUNT_CHANGE_EMAIL = True  # one address for each person; a new one counts once it is confirmed
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before the address is changed: who has it can reset the password
ACCOUNT_EMAIL_NOTIFICATIONS = bool(SMTP_URL)
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _site.scheme
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = SITE_NAME
MFA_ADAPTER = "chatsite.accounts.second_factors.adapter.MFAAdapter"
MFA_FORMS = {
    "add_webauthn": "chatsite.accounts.second_factors.passkeys.AddPasskeyForm",
    "edit_webauthn": "chatsite.accounts.second_factors.passkeys.RenamePasskeyForm",
    "authenticate_webauthn": "chatsite.accounts.second_factors.passkeys.UsePasskeyForm",
    "reauthenticate_webauthn": "chatsite.accounts.second_factors.passkeys.ConfirmByPasskeyForm",
    "login_webauthn": "chatsite.accounts.second_factors.passkeys.SignInByPasskeyForm",
}
MFA_RECOVERY_CODES_SHOW_ONCE = True
SOCIALACCOUNT_ADAPTER = "chatsite.accounts.openid_connect.adapter.SocialAccountAdapter"
SOCIALACCOUNT_FORMS = {"signup": "chatsite.accounts.forms.SocialSignUpForm"}
SOCIALACCOUNT_PROVIDERS = social_providers(
    server_url=OIDC_SERVER_URL, client_id=OIDC_CLIENT_ID, client_secret=OIDC_CLIENT_SECRET, name=OIDC_NAME
)
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True  # to the account with that address, as the adapter allows
SOCIALACCOUNT_STORE_TOKENS = False
# The limits on attempts are allauth's own, by address and by account; tests hold them. The server has already put
# the visitor into REMOTE_ADDR, from TRUSTED_PROXIES only, so allauth must believe no header by itself.
ALLAUTH_TRUSTED_PROXY_COUNT = 0
ALLAUTH_TRUSTED_CLIENT_IP_HEADER = None

# Security

# A megabyte of text is three in a form: it must come through, so that the refusal can say by how much it is too long.
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 2**20
SESSION_ENGINE = "chatsite.accounts.sessions.session_store"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if _site.scheme == "https":
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = True
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365

from chatsite.configuration.unfold import UNFOLD  # noqa: E402, F401
from chatsite.middleware.content_security import CONTENT_SECURITY_POLICY  # noqa: E402, F401
